package smoothing

import (
	"fmt"
	"strings"
)

// Letters of an exponential smoothing form.
const (
	etsNone = 'N'
	etsAdd  = 'A'
	etsMul  = 'M'
)

// etsForm is one of the exponential smoothing models in the taxonomy of
// Hyndman, Koehler, Ord and Snyder, "Forecasting with Exponential Smoothing"
// (2008), ch. 2: the error is A or M, the trend N or A, the season N, A or M.
type etsForm struct {
	Error, Trend, Season byte
	Damped               bool
}

// parseETSForm reads a form such as "AAdM", "ANN" or "A,Ad,M". It fails for any other letters.
func parseETSForm(text string) (etsForm, error) {
	bare := strings.ReplaceAll(text, ",", "")
	f := etsForm{Damped: len(bare) == 4 && bare[2] == 'd'}
	if f.Damped {
		bare = bare[:2] + bare[3:]
	}
	if len(bare) == 3 {
		f.Error, f.Trend, f.Season = bare[0], bare[1], bare[2]
	}
	if !strings.ContainsRune("AM", rune(f.Error)) || !strings.ContainsRune("NA", rune(f.Trend)) ||
		!strings.ContainsRune("NAM", rune(f.Season)) || f.Damped && f.Trend == etsNone {
		return etsForm{}, fmt.Errorf("read the ETS form %q: expected error A or M, trend N, A or Ad, season N, A or M, as in AAdM", text)
	}
	return f, nil
}

// String returns the form as papers write it, for example "ETS(M,Ad,M)".
func (f etsForm) String() string {
	damped := ""
	if f.Damped {
		damped = "d"
	}
	return fmt.Sprintf("ETS(%c,%c%s,%c)", f.Error, f.Trend, damped, f.Season)
}

// smoothing returns the number of smoothing parameters among alpha, beta, gamma and phi.
func (f etsForm) smoothing() int {
	n := 1
	if f.Trend != etsNone {
		n++
	}
	if f.Season != etsNone {
		n++
	}
	if f.Damped {
		n++
	}
	return n
}

// parameterCount returns the number of estimated parameters without the variance: the smoothing
// parameters and the first states. One of the m seasonal states follows from the others.
func (f etsForm) parameterCount(m int) int {
	n := f.smoothing() + 1
	if f.Trend != etsNone {
		n++
	}
	if f.Season != etsNone {
		n += m - 1
	}
	return n
}

// etsForms returns the forms among which the automatic choice is made. Additive errors with a
// multiplicative season are left out: their variance is infinite (op. cit. ch. 15).
// Multiplicative forms need positive data.
func etsForms(seasonal, positive, dampedOnly bool) []etsForm {
	trends := []etsForm{{Trend: etsNone}, {Trend: etsAdd, Damped: true}}
	if !dampedOnly {
		trends = append(trends, etsForm{Trend: etsAdd})
	}
	var forms []etsForm
	add := func(e, s byte) {
		for _, f := range trends {
			f.Error, f.Season = e, s
			forms = append(forms, f)
		}
	}
	add(etsAdd, etsNone)
	if positive {
		add(etsMul, etsNone)
	}
	if !seasonal {
		return forms
	}
	add(etsAdd, etsAdd)
	if positive {
		add(etsMul, etsAdd)
		add(etsMul, etsMul)
	}
	return forms
}
