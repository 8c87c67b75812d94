package mix

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
)

// WaitCostDefault is what an hour that one job waits counts where nobody says, and the plan chooses how long jobs wait.
const WaitCostDefault = "$1"

// ParseWaitCost parses what an hour that one job waits counts, in dollars; "" is nothing. It fails with *capcli.RequestError.
func ParseWaitCost(text string) (capcli.Rate, error) {
	if text == "" {
		return 0, nil
	}
	v, err := capcli.ParseUSD(text)
	if err != nil || v < 0 {
		return 0, &capcli.RequestError{Field: "wait-cost", Text: fmt.Sprintf("wants dollars for an hour that a job waits, found %q", text), Hint: "wait-cost=1"}
	}
	return v, nil
}

func (p *Planner) priceWaits() (err error) {
	text := p.req.WaitCost
	if text == "" && slices.ContainsFunc(p.problem.Space.Axes, func(a Axis) bool { return strings.HasPrefix(a.Path, "overflow.patience") && len(a.Values) > 1 }) {
		text = WaitCostDefault
	}
	p.problem.WaitPrice, err = ParseWaitCost(text)
	return err
}

// waited returns the time that all jobs of the run together waited. The mean is the quotient of this whole number, so it
// is exact up to 2^51 s.
func (o *Outcome) waited() capcli.Seconds {
	return capcli.Seconds(math.Round(o.WaitMean * float64(o.WaitJobs)))
}

// costWithWaits returns the cost of the run and what its waits count.
func (o *Outcome) costWithWaits() capcli.USD { return o.Cost + o.WaitCost }

// chargeWaits sets what the waits count, rounded half up to the millionth of a dollar.
func (o *Outcome) chargeWaits(price capcli.Rate) {
	if waited := o.waited(); float64(waited)/3600*float64(price) < math.MaxInt64/4 {
		o.WaitCost = capcli.Cost(price, capcli.GPUTime(waited)*capcli.GPUSecond)
		return
	}
	o.Priced, o.Fault = false, capcli.ErrOverflow.Error()
}

// WaitHours returns the hours that all jobs together wait, the mean over the runs.
func (e *Entry) WaitHours() float64 {
	sum := 0.0
	for i := range e.Outcomes {
		sum += float64(e.Outcomes[i].waited()) / 3600 * e.shareOf(i)
	}
	return sum
}

// waitRange returns the range of the p95 wait over the runs, in seconds. It holds the mean; it is widened by the error of
// waits on the log's own past, but not beyond the patience of the mix where no simulated wait is.
func (s *study) waitRange(e *Entry) []float64 {
	lo, hi, _ := e.Range("wait_p95")
	lo, hi = min(lo, e.Wait()), max(hi, e.Wait())
	past := s.out.OwnPast
	if past == nil {
		return []float64{lo, hi}
	}
	low, high := past.Widen(lo, hi)
	if most, ok := e.patience(); ok {
		high = min(high, most)
	}
	return []float64{min(lo, low), max(hi, high)}
}

// patience returns the longest that jobs of the mix wait for committed GPUs before they go on, in seconds; false where some
// wait for ever, or longer in a run because no other GPUs were free.
func (e *Entry) patience() (float64, bool) {
	cfg, err := e.Config(0)
	if err != nil {
		return 0, false
	}
	var most capcli.Seconds
	for _, p := range cfg.Overflow.Patience {
		if p.Wait < 0 || p.PerHour > 0 {
			return 0, false
		}
		most = max(most, p.Wait)
	}
	for i := range e.Outcomes {
		if e.Outcomes[i].WaitMax > most {
			return 0, false
		}
	}
	return float64(most), true
}

// WaitsText says how long jobs wait: the mean, all of them together, and the p95 wait with its range.
func (m *Mix) WaitsText() string {
	if m.WaitMean == nil || m.WaitP95 == nil || len(m.WaitRange) < 2 {
		return ""
	}
	if *m.WaitMean == 0 {
		return "no job waits"
	}
	seconds := outcome.MetricNamed("wait_p95").Text
	text := fmt.Sprintf("jobs wait %s on average", seconds(*m.WaitMean))
	if m.WaitHours != nil { // documents of earlier versions do not say
		text += fmt.Sprintf(", %s hours together", hoursText(*m.WaitHours))
	}
	text += "; the p95 wait is " + seconds(*m.WaitP95)
	if lo, hi := seconds(m.WaitRange[0]), seconds(m.WaitRange[1]); lo != hi {
		text += fmt.Sprintf(" (%s to %s)", lo, hi)
	}
	return text
}

func hoursText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

// WaitNote says what the mix that is cheapest without a price of waits would save, and for how much waiting; "" where the
// best mix is that.
func (r *Result) WaitNote() string {
	if r.Best == nil {
		return ""
	}
	best := r.Best.Entry
	least := best
	for _, e := range r.Found.runInFull() {
		if e.holds(r.Hold) && byCost(e, least) < 0 {
			least = e
		}
	}
	saved, hours := best.Cost()-least.Cost(), least.WaitHours()-best.WaitHours()
	if saved <= 0 || hours <= 0 {
		return ""
	}
	cheaper := &Mix{}
	for i, v := range least.Values {
		cheaper.Choices = append(cheaper.Choices, Choice{r.Axes[i].Path, v})
	}
	return fmt.Sprintf("%s would cost %s less and make jobs wait %s more hours together: %s for each, under the %s that an hour of waiting counts (wait-cost)",
		r.name(cheaper), saved, hoursText(hours), capcli.USDOf(saved.Float()/hours), r.WaitPrice)
}

// WhyBrief is Why in a few words; "" where the size is the plan, breaks a limit or costs more.
func (m *MarginalGPU) WhyBrief() string {
	switch {
	case m.Why == "":
		return ""
	case strings.HasPrefix(m.Why, waitsCount):
		return "cheaper, but jobs wait longer"
	}
	return "cheaper, but no choice of this plan"
}

// waitsCount begins the reason of a size that is not taken for its waits.
const waitsCount = "its waits count"
