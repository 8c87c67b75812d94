package anomaly

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
)

// Figure is a figure that a condition may be about.
type Figure struct {
	of func(r *Result, total *profile.UseResult) float64
}

// Figures are the figures of conditions by name: the number of anomalies of each kind, and totals of the summary.
var Figures = capcli.Catalog[Figure]{Kind: "figure"}

func init() {
	for _, k := range Kinds.All() {
		Figures.Add(k.Name, "anomalies: "+k.Doc, Figure{func(r *Result, _ *profile.UseResult) float64 { return float64(r.Counts[k.Name]) }})
	}
	severe := func(most Severity) Figure {
		return Figure{func(r *Result, _ *profile.UseResult) float64 {
			n := r.LeftOut
			for _, a := range r.Anomalies {
				if rank(a.Severity) <= rank(most) {
					n++
				}
			}
			return float64(n)
		}}
	}
	Figures.Add("anomalies", "all anomalies", severe(Info))
	Figures.Add("warnings", "anomalies that are critical or a warning", severe(Warning))
	Figures.Add("critical", "anomalies that are critical", severe(Critical))
	total := func(of func(u *profile.UseResult) float64) Figure {
		return Figure{func(_ *Result, u *profile.UseResult) float64 { return of(u) }}
	}
	Figures.Add("idle_held_gpu_hours", "GPU-hours that were held and idle", total(func(u *profile.UseResult) float64 { return float64(u.Idle) }))
	Figures.Add("idle_cost_usd", "what they cost; needs a price", total(func(u *profile.UseResult) float64 {
		if u.IdleCost == nil {
			return math.NaN()
		}
		return u.IdleCost.Float()
	}))
	Figures.Add("util_gpu_pct", "mean utilisation of all GPUs, in percent", total(func(u *profile.UseResult) float64 { return float64(u.Util) }))
	Figures.Add("sm_active_pct", "mean SM activity of all GPUs, in percent", total(func(u *profile.UseResult) float64 { return float64(u.SM) }))
	Figures.Add("held_pct", "share of the time of all GPUs in which they were held, in percent", total(func(u *profile.UseResult) float64 {
		return 100 * float64(u.Held) / float64(u.Seen)
	}))
}

// Check is a condition: a figure, a sign and a number.
type Check struct {
	text, name, sign string
	value            float64
}

// signs of conditions, the longer ones first.
var signs = []string{"<=", ">=", "==", "!=", "<", ">", "="}

// parseCheck reads a condition such as "memory_creep>0" or "idle_cost_usd>500".
func parseCheck(text string) (Check, error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return Check{}, fmt.Errorf("%s is no condition; write a figure, a sign and a number: anomalies>0", capcli.Quoted(text))
	}
	c := Check{text: strings.TrimSpace(text), name: strings.TrimSpace(text[:at])}
	if _, err := Figures.Get(c.name); err != nil {
		return Check{}, err
	}
	for _, sign := range signs {
		rest, ok := strings.CutPrefix(text[at:], sign)
		if !ok {
			continue
		}
		number := strings.Trim(strings.TrimSpace(rest), "$%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Check{}, fmt.Errorf("%s: expected a number after %s, found %s", c.name, sign, capcli.Quoted(strings.TrimSpace(rest)))
		}
		c.sign, c.value = sign, v
		return c, nil
	}
	return Check{}, fmt.Errorf("%s is no condition; the sign is one of %s", capcli.Quoted(text), strings.Join(signs, " "))
}

// isTrue reports whether the condition is true of a value.
func (c *Check) isTrue(v float64) bool {
	n := cmp.Compare(v, c.value)
	switch c.sign {
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	case ">=":
		return n >= 0
	case "!=":
		return n != 0
	}
	return n == 0
}

// ParseChecks reads conditions. It fails with *capcli.RequestError.
func ParseChecks(texts []string) ([]Check, error) {
	var out []Check
	for _, text := range texts {
		c, err := parseCheck(text)
		if err != nil {
			return nil, &capcli.RequestError{Field: "fail-if", Text: ": " + err.Error(), Hint: "for example --fail-if 'critical>0'"}
		}
		out = append(out, c)
	}
	return out, nil
}

// Judge adds conditions to r, and returns an error for the first that is true, or whose figure is not known:
// *capcli.ResultError.
func (r *Result) Judge(checks []Check, total *profile.UseResult) error {
	var first error
	r.Conditions = []Condition{}
	for i := range checks {
		c := &checks[i]
		f, err := Figures.Get(c.name)
		if err != nil {
			return err
		}
		v := f.of(r, total)
		known := !math.IsNaN(v)
		one := Condition{Text: c.text, Is: capcli.Figure(v), True: known && c.isTrue(v)}
		r.Conditions = append(r.Conditions, one)
		switch {
		case first != nil:
		case !known:
			first = &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("--fail-if %s: this figure is not known", c.text), Hint: "dollars need --price; SM activity needs GPUs that tell it"}
		case one.True:
			first = &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s is true: it is %s", c.text, strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64))}
		}
	}
	return first
}

// Lead returns what was found in a sentence.
func (r *Result) Lead() string {
	if len(r.Anomalies) == 0 {
		return "Nothing went wrong: no anomaly was found."
	}
	n := map[Severity]int{}
	for _, a := range r.Anomalies {
		n[a.Severity]++
	}
	var parts []string
	for _, s := range []Severity{Critical, Warning, Info} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	all := len(r.Anomalies)
	text := fmt.Sprintf("%s %s: %s.", capcli.Grouped(int64(all)), capcli.Plural(int64(all), "anomaly"), strings.Join(parts, ", "))
	if r.LeftOut > 0 {
		text += fmt.Sprintf(" %s more are left out.", capcli.Grouped(int64(r.LeftOut)))
	}
	return text
}

// Notes returns what to do about each kind that was found.
func (r *Result) Notes() []string {
	var out []string
	for _, k := range Kinds.All() {
		if r.Counts[k.Name] > 0 {
			out = append(out, k.Value.What+": "+k.Value.Do)
		}
	}
	return out
}
