package spot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate/supply"
)

// Request asks what a job under a deadline costs on spot, by policy, over many starts in a recorded
// availability.
type Request struct {
	Work, Deadline, Delay capcli.Seconds
	Nodes                 int
	Price, OnDemand       capcli.Rate // of a node for an hour
	File                  string      // the recording
	Preempted             bool        // it counts instances that were gone
	Starts                int         // spread evenly over the recording
}

// mostStarts bounds the starts of a request.
const mostStarts = 100_000

// Check refuses a request that is wrong by itself.
func (q *Request) Check() error {
	bad := func(field, text, hint string) error {
		return &capcli.RequestError{Field: field, Text: text, Hint: hint}
	}
	switch {
	case q.Work <= 0:
		return bad("work", "is missing: how long the job runs", "for example work=48h")
	case q.Deadline <= 0:
		return bad("deadline", "is missing", "for example deadline=60h")
	case q.Delay < 0:
		return bad("delay", "is below 0", "for example delay=12m")
	case q.Work > longest || q.Deadline > longest || q.Delay > longest:
		return bad("deadline", "and the other times may be ten years at most", "")
	case q.Nodes < 1 || q.Nodes > 100_000:
		return bad("nodes", fmt.Sprintf("is %d; want 1 to 100,000", q.Nodes), "")
	case q.Price <= 0 || q.OnDemand <= 0:
		return bad("price", "and on-demand, what a node costs for an hour on spot and on demand, are needed", "for example price=0.97 on-demand=3.06")
	case q.Price > dearest || q.OnDemand > dearest:
		return bad("price", "and on-demand may be a million dollars an hour at most", "")
	case q.Starts < 1 || q.Starts > mostStarts:
		return bad("starts", fmt.Sprintf("is %d; want 1 to %s", q.Starts, capcli.Grouped(mostStarts)), "")
	case q.File == "":
		return bad("availability", "is missing: the recording", "for example availability=trace.json")
	case q.Work+q.Delay > q.Deadline:
		return bad("deadline", fmt.Sprintf("%s cannot be met even on demand: the work takes %s and its start %s", q.Deadline, q.Work, q.Delay), "give a later deadline")
	}
	return nil
}

const (
	longest = 10 * 366 * capcli.Day
	dearest = 1_000_000 * capcli.Dollar
)

// Row is what one policy came to over all starts.
type Row struct {
	Policy      string         `json:"policy"`
	Starts      int            `json:"starts"`
	Met         int            `json:"met_deadline"`
	Late        int            `json:"late"`       // ended after the deadline
	Unfinished  int            `json:"unfinished"` // the recording ended first; not in the figures below
	Mean        *capcli.USD    `json:"cost_mean_usd"`
	Max         *capcli.USD    `json:"cost_max_usd"`
	Saving      *float64       `json:"saving"` // 1 - mean cost / mean cost on demand
	SpotShare   *float64       `json:"spot_share_of_work"`
	Changeovers *float64       `json:"changeovers_mean"`
	LateMax     capcli.Seconds `json:"late_max_s"`
	KnowsAhead  bool           `json:"knows_the_future"` // no real scheduler can do it
}

// Result is the answer.
type Result struct {
	Schema    string         `json:"schema"`
	Work      capcli.Seconds `json:"work_s"`
	Deadline  capcli.Seconds `json:"deadline_s"`
	Delay     capcli.Seconds `json:"delay_s"`
	Nodes     int            `json:"nodes"`
	Gap       capcli.Seconds `json:"tick_s"`
	Starts    int            `json:"starts"`
	Available float64        `json:"available_share"` // of the recording's ticks
	Best      string         `json:"best_policy"`     // the cheapest that was never late and knows no future
	Rows      []Row          `json:"policies"`
	Answer    string         `json:"-"`
	Notes     []string       `json:"notes"`
}

// omniscient is the name of the row of Job.LeastCost.
const omniscient = "omniscient"

// mostWork bounds the states of all cases of Job.LeastCost in a result.
const mostWork = 3_000_000_000

// Plan answers a request. It fails with *capcli.RequestError, and with *capcli.InputError if the
// recording is wrong or shorter than the deadline.
func (q *Request) Plan(ctx context.Context, open trace.Opener) (*Result, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	a, first, err := q.read(open)
	if bad, ok := errors.AsType[*capcli.InputError](err); ok {
		bad.File = q.File
	}
	if err != nil {
		return nil, err
	}
	out := &Result{Schema: "capcli/plan-spot/v1", Work: q.Work, Deadline: q.Deadline, Delay: q.Delay, Nodes: q.Nodes, Gap: a.Gap, Starts: len(first)}
	for _, c := range a.Counts {
		if c >= q.Nodes {
			out.Available += 1 / float64(len(a.Counts))
		}
	}
	demand := capcli.USD(0)
	for _, p := range Policies {
		stays, err := capcli.MapParallel(ctx, first, nil, func(_ context.Context, j *Job) (Stay, error) {
			s := j.Play(p)
			s.Choices = nil
			return s, nil
		})
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, rowOf(p.Name, stays, q, &demand))
		out.Rows[len(out.Rows)-1].KnowsAhead = p.Oracle
	}
	if err := q.addLeast(ctx, out, first, &demand); err != nil {
		return nil, err
	}
	out.choose()
	return out, nil
}

// read reads the recording and returns it with the job at each start.
func (q *Request) read(open trace.Opener) (a supply.Availability, first []*Job, err error) {
	in, closer, err := open(q.File)
	if err != nil {
		return a, nil, err
	}
	defer func() { _ = closer.Close() }()
	content, err := trace.Unpack(in)
	if err != nil {
		return a, nil, err
	}
	polarity := supply.CountsAvailable
	if q.Preempted {
		polarity = supply.CountsPreempted
	}
	if a, err = supply.ParseAvailability(content, polarity); err == nil {
		first, err = q.jobs(&a)
	}
	return a, first, err
}

// jobs returns the job at each start.
func (q *Request) jobs(a *supply.Availability) ([]*Job, error) {
	need := int((q.Deadline + a.Gap - 1) / a.Gap)
	room := len(a.Counts) - need
	if room < 0 {
		return nil, &capcli.InputError{
			Field: "data", Text: fmt.Sprintf("the recording is %s long, the deadline is after %s", a.Span(), q.Deadline), Hint: "give a longer recording or a shorter deadline",
		}
	}
	available := capcli.Map(a.Counts, func(c int) bool { return c >= q.Nodes })
	starts := min(q.Starts, room+1)
	out := make([]*Job, starts)
	for k := range out {
		at := 0
		if starts > 1 {
			at = int(int64(room) * int64(k) / int64(starts-1))
		}
		out[k] = &Job{
			Available: available[at:], Gap: a.Gap, Work: q.Work, Deadline: q.Deadline, Delay: q.Delay, Nodes: q.Nodes, Spot: q.Price, OnDemand: q.OnDemand,
		}
	}
	return out, nil
}

// rowOf sums the stays of one policy. demand is the mean cost of the first policy, on demand.
func rowOf(name string, stays []Stay, q *Request, demand *capcli.USD) Row {
	r := Row{Policy: name, Starts: len(stays)}
	var most capcli.USD
	var spot, changes int64
	var done []capcli.USD
	for i := range stays {
		s := &stays[i]
		switch {
		case !s.Finished:
			r.Unfinished++
			continue
		case s.Late:
			r.Late++
			r.LateMax = max(r.LateMax, s.End-q.Deadline)
		default:
			r.Met++
		}
		done = append(done, s.Cost)
		most = max(most, s.Cost)
		spot += int64(s.SpotWork)
		changes += s.Changeovers
	}
	if len(done) == 0 {
		return r
	}
	mean := capcli.MeanUSD(len(done), false, func(i int) capcli.USD { return done[i] })
	*demand = cmp.Or(*demand, mean)
	n := float64(len(done))
	saving, share, each := 1-mean.Float()/demand.Float(), float64(spot)/n/float64(q.Work), float64(changes)/n
	r.Mean, r.Max, r.Saving, r.SpotShare, r.Changeovers = &mean, &most, &saving, &share, &each
	return r
}

// addLeast adds the least cost with all known, unless that is too much to compute.
func (q *Request) addLeast(ctx context.Context, out *Result, first []*Job, demand *capcli.USD) error {
	each := int64(q.Deadline/out.Gap) * int64((q.Work+q.Delay)/gcd(out.Gap, q.Delay)+1)
	sample := first
	if many := max(1, int(mostWork/max(1, each))); len(first) > many && each <= mostStates {
		sample = nil
		for k := range many {
			sample = append(sample, first[k*len(first)/many])
		}
		out.Notes = append(out.Notes, fmt.Sprintf("omniscient is over %d of the starts; all would take long", many))
	}
	if each > mostStates {
		out.Notes = append(out.Notes, "omniscient, the least cost with all known, is too large to compute here")
		return nil
	}
	stays, err := capcli.MapParallel(ctx, sample, nil, func(_ context.Context, j *Job) (Stay, error) {
		s, ok := j.LeastCost()
		s.Finished = ok
		return s, nil
	})
	if err != nil {
		return err
	}
	r := rowOf(omniscient, stays, q, demand)
	r.KnowsAhead, r.SpotShare = true, nil
	out.Rows = append(out.Rows, r)
	return nil
}

// choose names the best policy and says the answer.
func (r *Result) choose() {
	var best, demand *Row
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Policy == Policies[0].Name {
			demand = x
		}
		if !x.KnowsAhead && x.Met == x.Starts && (best == nil || *x.Mean < *best.Mean) {
			best = x
		}
	}
	if best == nil {
		r.Answer = fmt.Sprintf("No policy meets the deadline of %s from each of the %d starts; on demand from the start is late %s.", r.Deadline, r.Starts, countText(demand.Late+demand.Unfinished))
	} else {
		r.Best = best.Policy
		r.Answer = fmt.Sprintf("%s costs %s on average and %s at most, %s on demand; it is never late from %d starts.", best.Policy, *best.Mean, *best.Max, *demand.Mean, r.Starts)
	}
	if k := slices.IndexFunc(r.Rows, func(x Row) bool { return x.Policy == "spot_only" }); k >= 0 && r.Rows[k].Met < r.Starts {
		x := &r.Rows[k]
		text := fmt.Sprintf("spot_only misses the deadline %s", countText(x.Late+x.Unfinished))
		if x.Late > 0 {
			text += fmt.Sprintf(", by %s at most", x.LateMax)
		}
		if x.Unfinished > 0 {
			text += fmt.Sprintf("; %s does it not end before the recording does", countText(x.Unfinished))
		}
		r.Notes = append(r.Notes, text)
	}
	r.Notes = append(r.Notes, "spot is available for all nodes or for none; started ticks are paid in full; the spot price is constant")
}

// countText returns "once" or "3 times".
func countText(n int) string {
	if n == 1 {
		return "once"
	}
	return capcli.Grouped(int64(n)) + " times"
}

// Texts are the times and prices of a request as text: 48h, 0.97.
type Texts struct{ Work, Deadline, Delay, Price, OnDemand string }

// Parse sets the times and prices of the request. It fails with *capcli.RequestError.
func (q *Request) Parse(t Texts) error {
	for _, x := range []struct {
		field, text string
		dst         *capcli.Seconds
	}{{"work", t.Work, &q.Work}, {"deadline", t.Deadline, &q.Deadline}, {"delay", t.Delay, &q.Delay}} {
		if x.text == "" {
			continue
		}
		v, err := capcli.ParseSeconds(x.text)
		if err != nil {
			return &capcli.RequestError{Field: x.field, Text: err.Error(), Hint: "times are 90s, 12m, 48h or 2d"}
		}
		*x.dst = v
	}
	for _, x := range []struct {
		field, text string
		dst         *capcli.Rate
	}{{"price", t.Price, &q.Price}, {"on-demand", t.OnDemand, &q.OnDemand}} {
		if x.text == "" {
			continue
		}
		v, err := capcli.ParseUSD(x.text)
		if err != nil {
			return &capcli.RequestError{Field: x.field, Text: err.Error(), Hint: "a price is dollars for a node and hour, such as 3.06"}
		}
		*x.dst = v
	}
	return q.Check()
}
