package requests

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"capcli"
	"capcli/profile/logs/trace"
)

// Rates are requests and tokens by step.
type Rates struct {
	Step     capcli.Seconds
	Start    capcli.Time // of the first step, a multiple of Step since 1970
	Requests []float64   // in each step
	In, Out  []float64   // tokens in each step
	Report   Report
}

// maxRateSteps is the most steps of Rates.
const maxRateSteps = 5_000_000

// ReadRates counts the requests and tokens of a trace by step. Times that are no dates count from the start
// of 1970. It fails where there are too many steps.
func ReadRates(ctx context.Context, r *Reader, step capcli.Seconds) (*Rates, error) {
	out := &Rates{Step: step}
	width := int64(step) * Second
	first, least, begun := int64(0), int64(0), false
	grow := func(n int) []float64 { return make([]float64, n) }
	err := r.EachRow(ctx, func(row *Row) error {
		at := floorDiv(row.Arrival, width)
		if !begun {
			first, least, begun = at, at, true
		}
		least = min(least, at)
		if at < first {
			if first-at+int64(len(out.Requests)) > maxRateSteps {
				return r.tooManySteps(step)
			}
			before := max(first-at, int64(len(out.Requests))) // room for more of them
			for _, s := range []*[]float64{&out.Requests, &out.In, &out.Out} {
				*s = append(grow(int(before)), *s...)
			}
			first -= before
		}
		i := at - first
		if i >= 2*maxRateSteps {
			return r.tooManySteps(step)
		}
		for _, s := range []*[]float64{&out.Requests, &out.In, &out.Out} {
			if n := int(i) + 1 - len(*s); n > 0 {
				*s = append(*s, grow(n)...)
			}
		}
		out.Requests[i]++
		out.In[i] += float64(row.In)
		out.Out[i] += float64(row.Out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range []*[]float64{&out.Requests, &out.In, &out.Out} {
		*s = (*s)[least-first:]
	}
	out.Start, out.Report = capcli.Time(least*int64(step)), r.Report()
	return out, nil
}

func (r *Reader) tooManySteps(step capcli.Seconds) error {
	return r.fault(0, Columns[colArrival], fmt.Sprintf("the trace is over %s steps of %s", capcli.Grouped(maxRateSteps), step), "take a longer step")
}

// WriteCSV writes the rates as a table of requests a second, which requests: {curve: FILE} reads.
func (s *Rates) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"time", "requests_per_second", "tokens_in_per_second", "tokens_out_per_second"})
	for i := range s.Requests {
		perS := func(v float64) string { return strconv.FormatFloat(v/float64(s.Step), 'g', -1, 64) }
		_ = c.Write([]string{(s.Start + capcli.Time(i)*capcli.Time(s.Step)).String(), perS(s.Requests[i]), perS(s.In[i]), perS(s.Out[i])})
	}
	c.Flush()
	return c.Error()
}

// usualRateStep is the step of rates for which none is asked.
const usualRateStep = capcli.Minute

// ReadRatesFile opens a file and reads its rates. A step of 0 is a minute.
func ReadRatesFile(ctx context.Context, open trace.Opener, name string, o Options, step capcli.Seconds) (rates *Rates, err error) {
	step = cmp.Or(step, usualRateStep)
	if step < 0 {
		return nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf("wants a length of time, found %s", step)}
	}
	err = withReader(open, name, o, func(r *Reader) error {
		rates, err = ReadRates(ctx, r, step)
		return err
	})
	return rates, err
}
