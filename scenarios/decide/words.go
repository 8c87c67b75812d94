package decide

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"capcli"
	"capcli/simulate/outcome"
	"capcli/simulate/plan/mix"
)

// sentence is the answer of a plan that holds the limits. What is not served comes first.
func (s *search) sentence() string {
	p, out := s.out.Plan, s.out
	var b strings.Builder
	if p.Undone > 0 {
		fmt.Fprintf(&b, "Of the work %s is not served (%s GPU-hours on average). ", sharesText(p.Unserved), hoursText(p.Undone))
	}
	if p.GPUs == 0 {
		fmt.Fprintf(&b, "Commit to nothing: take all %s on demand, at %s a GPU-hour", out.GPU, out.Prices[1].Rate)
	} else {
		fmt.Fprintf(&b, "Commit to %s %s for %s from %s, at %s a GPU-hour, and take the rest on demand at %s", capcli.Grouped(int64(p.GPUs)), out.GPU, out.Prices[0].Term, out.Start.Date(), out.Prices[0].Rate, out.Prices[1].Rate)
	}
	if p.Patience != "0s" && p.GPUs > 0 {
		fmt.Fprintf(&b, ", for jobs that have waited %s", p.Patience)
	}
	fmt.Fprintf(&b, ": %s over %s (%s to %s%s; %s in the worst 5%%), %s a year. ", p.Cost.Brief(), out.Length, p.Range[0].Brief(), p.Range[1].Brief(), capcli.RangeOf(out.Futures, fmt.Sprint(out.Futures, " futures")), p.Worst.Brief(), p.PerYear.Brief())
	served := "The "
	if p.Undone == 0 {
		served = "All work that can be done by the end is done; the "
	}
	fmt.Fprintf(&b, served+"p95 wait is %s (%s in the worst future), and the limits hold in %s of the futures.", waitText(p.WaitP95), waitText(float64(p.WaitWorst)), mix.PercentText(p.Held))
	if d := s.named("all on demand"); d != nil && p.GPUs > 0 {
		fmt.Fprintf(&b, " All on demand costs %s more.", d.Difference.Brief())
	}
	if r := out.Review; r != nil && len(r.Purchases) > 0 {
		b.WriteString(" " + s.reviewText())
	}
	return b.String()
}

// named returns an alternative; nil where it is not listed.
func (s *search) named(name string) *Choice {
	for i := range s.out.Alternatives {
		if s.out.Alternatives[i].Name == name {
			return &s.out.Alternatives[i]
		}
	}
	return nil
}

func (s *search) reviewText() string {
	r := s.out.Review
	share, least, most := 0.0, r.Purchases[0].GPUs, r.Purchases[0].GPUs
	for _, p := range r.Purchases {
		share += p.Share
		least, most = min(least, p.GPUs), max(most, p.GPUs)
	}
	gpus := fmt.Sprintf("%.0f", least)
	if most-least >= 1 {
		gpus = fmt.Sprintf("%.0f to %.0f", least, most)
	}
	return fmt.Sprintf("Decide again on %s: in %s of the futures another %s GPUs pay then; deciding again is worth %s.", r.Date, mix.PercentText(share), gpus, r.Value.Brief())
}

// noAnswer is the answer where no plan holds the limits.
func (s *search) noAnswer() string {
	out := s.out
	var b strings.Builder
	if c := s.named(budgetName); c != nil && c.Undone > 0 {
		fmt.Fprintf(&b, "The budget does not pay for the work: %s of it (%s GPU-hours on average) would not be served by the %s GPUs that it pays for, which cost %s. ",
			sharesText(c.Unserved), hoursText(c.Undone), capcli.Grouped(int64(c.GPUs)), c.Cost.Brief())
	}
	fmt.Fprintf(&b, "No plan holds the limits (%s) in %s of the futures.", strings.Join(out.Limits, ", "), mix.PercentText(out.Hold))
	if n := out.Nearest; n != nil {
		fmt.Fprintf(&b, " The nearest commits to %s GPUs with a patience of %s: %s over %s (%s in the worst 5%%), p95 wait %s", capcli.Grouped(int64(n.GPUs)), n.Patience, n.Cost.Brief(), out.Length, n.Worst.Brief(), waitText(n.WaitP95))
		if n.Undone > 0 {
			fmt.Fprintf(&b, ", %s of the work not served", sharesText(n.Unserved))
		}
		fmt.Fprintf(&b, "; it holds the limits in %s of the futures.", mix.PercentText(n.Held))
	}
	return b.String()
}

// meetingSentence says how far the plan for the futures and the recommendation are apart, and why.
func (s *search) meetingSentence(chosen point) string {
	m := s.out.Meeting
	apart := chosen.gpus - m.GPUs
	var b strings.Builder
	switch {
	case apart == 0:
		fmt.Fprintf(&b, "Both plans commit to %s GPUs", capcli.Grouped(int64(m.GPUs)))
	case m.Meet:
		fmt.Fprintf(&b, "The plans meet: %s GPUs for the futures alone, %s with the jobs", capcli.Grouped(int64(m.GPUs)), capcli.Grouped(int64(chosen.gpus)))
	default:
		fmt.Fprintf(&b, "The plans stay apart: %s GPUs for the futures alone, %s with the jobs", capcli.Grouped(int64(m.GPUs)), capcli.Grouped(int64(chosen.gpus)))
	}
	fmt.Fprintf(&b, ". For the futures alone it costs %s, for a demand that is even within each day and waits for nothing; played with the jobs of the same futures %s (%s: hours within the day, whole jobs, and jobs that run on at the end)", m.Bought.Brief(), m.Played.Brief(), signed(m.Hours))
	if chosen.patience != s.waits[0] {
		fmt.Fprintf(&b, ", with jobs that wait up to %s %s (%s)", chosen.patience, m.Patient.Brief(), signed(m.Waits))
	}
	if apart != 0 {
		fmt.Fprintf(&b, ", with %s GPUs %s (%s)", capcli.Grouped(int64(chosen.gpus)), m.Cost.Brief(), signed(m.Size))
	}
	b.WriteString(".")
	return b.String()
}

func signed(u capcli.USD) string {
	if u < 0 {
		return "-" + (-u).Brief()
	}
	return "+" + u.Brief()
}

// Shares of the mean demand in the last week of a log under and over which the log's end is
// remarkable.
const (
	endsUnder = 0.5
	endsOver  = 2.0
)

// warnings says what the answer stands on that may not hold.
func (s *search) warnings() []string {
	log, out := &s.out.Log, s.out
	days := int64(out.Length / capcli.Day)
	var list []string
	if log.Tail < endsUnder*log.Demand {
		list = append(list, fmt.Sprintf("the demand falls away at the end of the log: %.0f GPUs in its last week, %.0f on average. If jobs that had not ended are missing from the log, or the cluster was taken down, the forecast is too low: cut the log before its end", log.Tail, log.Demand))
	}
	if log.Tail > endsOver*log.Demand {
		list = append(list, fmt.Sprintf("the demand rises at the end of the log: %.0f GPUs in its last week, %.0f on average. Whether it stays decides the answer", log.Tail, log.Demand))
	}
	switch {
	case log.Days < days:
		list = append(list, fmt.Sprintf("the log has %d days and the question is about %d: the forecast was tried %s, and its far end is a guess", log.Days, days, triedText(log.Tested)))
	case int64(log.Tested) < days:
		list = append(list, fmt.Sprintf("the horizon of %d days is beyond what the forecast was tried for: %s", days, triedText(log.Tested)))
	}
	if log.AheadLow < 0.5*log.Ahead || log.AheadTop > 2*log.Ahead {
		list = append(list, fmt.Sprintf("the futures differ widely: %.0f to %.0f GPUs on average, about %.0f. A shorter horizon, or a later decision on a part, is worth more than another digit", log.AheadLow, log.AheadTop, log.Ahead))
	}
	if log.Use != nil && *log.Use < 0.95*log.Demand && log.WaitP95 != nil {
		list = append(list, fmt.Sprintf("capacity held the demand down in the log: %.0f GPUs were in use and %.0f wanted had nobody waited (recorded p95 wait %s). The plan is for what was wanted", *log.Use, log.Demand, *log.WaitP95))
	}
	if p := s.out.Plan; p != nil && p.OnDemand > 0 {
		list = append(list, "on-demand GPUs are taken to be there at the stated price whenever a job needs them")
	}
	return list
}

func triedText(days int) string {
	if days == 0 {
		return "for no day on the past"
	}
	return fmt.Sprintf("for at most %d days ahead on the past", days)
}

func sharesText(v float64) string {
	if v < 0.001 {
		return "under 0.1%"
	}
	return mix.PercentText(v)
}

func hoursText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

func waitText(s float64) string { return outcome.MetricNamed("wait_p95").Text(s) }

// Next is a command that goes on from the answer. folder is where the documents are: it plays the
// recommendation in full detail with the jobs of the log. Where folder is "", it asks the question
// again and keeps the documents.
func (r *Result) Next(folder string) string {
	if folder == "" {
		return command(append(append([]string{"decide"}, r.asked...), "--out", "decision")...)
	}
	words := []string{"simulate", folder + "/" + ScenarioFile}
	if r.prices != "" {
		file := r.prices
		if !path.IsAbs(file) {
			file = path.Join(folder, file)
		}
		words = append(words, "--prices", file)
	}
	for _, c := range (point{r.Plan.GPUs, r.Plan.Patience}).changes() {
		words = append(words, "--set", c)
	}
	return command(append(words, "--out", folder+"/runs")...)
}

// flags are the flags of capcli decide that ask the request.
func (c *chain) flags() []string {
	out := append([]string{"--trace", c.Trace, "--gpu", c.GPU, "--horizon", c.Horizon}, c.readFlags()...)
	if c.Read.Format != "" {
		out = append(out, "--read", "format="+c.Read.Format)
	}
	for _, l := range c.Max {
		out = append(out, "--max", l)
	}
	for _, l := range c.Min {
		out = append(out, "--min", l)
	}
	d := NewRequest("", "")
	for _, f := range [][3]string{
		{"--budget", c.Budget, ""},
		{"--events", c.Events, ""},
		{"--prices", c.Prices, ""},
		{"--risk", c.Risk, d.Risk},
		{"--hold", c.Hold, d.Hold},
		{"--paths", strconv.Itoa(c.Futures), strconv.Itoa(d.Futures)},
		{"--seed", strconv.FormatUint(uint64(c.Seed), 10), strconv.FormatUint(uint64(d.Seed), 10)},
	} {
		if f[1] != f[2] {
			out = append(out, f[0], f[1])
		}
	}
	return out
}
