package sizing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Search is how the least number of replicas is searched for.
type Search uint8

// The searches.
const (
	exact  Search = iota // 1, 2, … until the promises hold
	bound                // from the proven bound on
	bisect               // as if more replicas were always better
)

var searchNames = []string{"exact", "bound", "bisect"}

// SearchNames returns the names of the searches, the default first.
func SearchNames() []string { return slices.Clone(searchNames) }

// parseSearch parses the name of a search; "" is the default.
func parseSearch(text string) (Search, error) {
	i := slices.Index(searchNames, cmp.Or(text, searchNames[0]))
	if i < 0 {
		return 0, &capcli.RequestError{Field: "search", Text: fmt.Sprintf("wants exact, bound or bisect, found %s", capcli.Quoted(text))}
	}
	return Search(i), nil
}

// sizer sizes one configuration for one load.
type sizer struct {
	ctx      context.Context
	config   serving.Config
	load     []serving.Request
	promises []Promise
	tried    func() // called after each replay; may be nil
}

// Try is one number of replicas and what it makes of the promises.
type Try struct {
	Replicas int    `json:"replicas"`
	Met      int64  `json:"slo_met"`
	Holds    bool   `json:"holds"`
	Promises []Kept `json:"promises"`

	summary *serving.Summary
}

// fleet returns the configuration with n replicas that are ready at the start.
func (z *sizer) fleet(n int) *serving.Config {
	c := z.config
	c.Replicas = make([]serving.Replica, n)
	for i := range c.Replicas {
		c.Replicas[i] = serving.Replica{Ready: 0, Drain: -1, Down: -1}
	}
	return &c
}

func (z *sizer) try(n int) (Try, error) {
	r, err := serving.Replay(z.ctx, z.fleet(n), z.load)
	if err != nil {
		return Try{}, err
	}
	if z.tried != nil {
		z.tried()
	}
	t := z.judge(r.Served)
	t.Replicas, t.summary = n, &r.Summary
	return t, nil
}

// judge works out all promises over requests.
func (z *sizer) judge(served []serving.Served) Try {
	t := Try{Holds: true}
	for i := range served {
		if z.config.SLO.Keeps(&served[i]) {
			t.Met++
		}
	}
	for i := range z.promises {
		if p := &z.promises[i]; p.overRequests() {
			k := p.judge(&z.config.SLO, served)
			t.Promises, t.Holds = append(t.Promises, k), t.Holds && k.Holds
		}
	}
	return t
}

// limits is what any number of replicas can make of the promises.
type limits struct {
	alone      Try  // each request on a replica of its own
	enough     int  // from so many replicas on no request waits for another; 0 is not known
	impossible bool // proven: no number of replicas keeps the promises
}

// limits plays each request alone, and finds from how many replicas on it is so in the fleet.
//
// Least-loaded routing sends a request to an idle replica wherever there is one. With as many replicas as
// requests are ever present at once, served alone, there always is: by induction over the arrivals, each
// is served alone and leaves when it would alone. Round-robin routing returns to a replica after n
// requests; where n exceeds the distance of any two requests present at once, it is idle by then.
func (z *sizer) limits() (*limits, error) {
	served, err := serving.PlayAlone(z.ctx, z.fleet(1), z.load)
	if err != nil {
		return nil, err
	}
	l := &limits{alone: z.judge(served)}
	switch z.config.Router {
	case "least_loaded":
		l.enough = z.mostAtOnce(served)
	case "round_robin":
		l.enough = z.farthestApart(served)
	}
	l.impossible = z.impossible()
	return l, nil
}

// mostAtOnce returns the most requests present at once where each is served alone.
func (z *sizer) mostAtOnce(served []serving.Served) int {
	var ends []int64
	for i := range served {
		if served[i].Status == serving.OK {
			ends = append(ends, served[i].Finish)
		}
	}
	slices.Sort(ends)
	most, left, here := 1, 0, 0
	for i := range served {
		if served[i].Status != serving.OK {
			continue
		}
		for left < len(ends) && ends[left] <= z.load[i].Arrival {
			left++
		}
		here++
		most = max(most, here-left)
	}
	return most
}

// farthestApart returns one more than the greatest number of requests between two that are present at
// once where each is served alone.
func (z *sizer) farthestApart(served []serving.Served) int {
	type stay struct {
		end   int64
		place int
	}
	var present []stay // an earlier request that stays longer hides the later ones: ends rise
	most, place := 0, 0
	for i := range served {
		if served[i].Status != serving.OK {
			continue // it is not routed
		}
		at := z.load[i].Arrival
		for len(present) > 0 && present[0].end <= at {
			present = present[1:]
		}
		if len(present) > 0 {
			most = max(most, place-present[0].place)
		}
		if end := served[i].Finish; len(present) == 0 || end > present[len(present)-1].end {
			present = append(present, stay{end, place})
		}
		place++
	}
	return most + 1
}

// impossible reports whether it is proven that no number of replicas keeps the promises: too many
// requests are rejected, or need longer than the limit in any batch.
func (z *sizer) impossible() bool {
	if !plainEngine(&z.config) {
		return false
	}
	judged := z.load
	best := make([]serving.Served, len(judged))
	for i := range judged {
		r := &judged[i]
		s := serving.Served{Request: *r}
		if z.config.Rejects(*r) {
			s.Status = serving.Rejected
		} else {
			s.FirstToken = r.Arrival + leastFirstToken(&z.config, r)
			s.Finish = s.FirstToken + leastPerToken(&z.config, r)*(r.Out-1)
		}
		best[i] = s
	}
	return !z.judge(best).Holds
}

// found is the answer of a search.
type found struct {
	tries  []Try
	best   *Try // nil where no number of replicas holds
	bound  Bound
	limits *limits
	capped bool // the search ended at the most replicas, without an answer and without a proof
}

// mostReplicas is where a search without an answer and without a proof ends.
const mostReplicas = 100_000

// search finds the least number of replicas for which the promises hold. Searches other than exact may
// leave out numbers.
func (z *sizer) search(how Search) (*found, error) {
	l, err := z.limits()
	if err != nil {
		return nil, err
	}
	f := &found{limits: l, bound: leastReplicas(&z.config, z.load, z.promises)}
	if l.impossible || !l.alone.Holds && l.enough == 0 {
		return f, nil
	}
	last := min(mostReplicas, max(l.enough, 1))
	if l.enough == 0 {
		last = min(mostReplicas, len(z.load))
	}
	first := 1
	if how != exact {
		first = min(f.bound.Replicas, last)
	}
	if how == bisect && l.alone.Holds && last-first > 2 {
		return f, z.halve(f, first, last)
	}
	for n := first; n <= last; n++ {
		t, err := z.try(n)
		if err != nil {
			return nil, err
		}
		if f.add(t) {
			return f, nil
		}
	}
	f.capped = l.alone.Holds
	return f, nil
}

// add adds a try to those made and reports whether it holds; then it is the best.
func (f *found) add(t Try) bool {
	if t.Holds {
		f.best = &t
	}
	f.tries = append(f.tries, t)
	return t.Holds
}

// halve searches between first and last replicas as if more were always better: it doubles the distance
// from first, and then halves it.
func (z *sizer) halve(f *found, first, last int) error {
	low, high := first-1, last // low does not hold
	for step := 1; ; step *= 2 {
		n := min(low+step, last)
		t, err := z.try(n)
		if err != nil {
			return err
		}
		if f.add(t) || n == last {
			high = n
			break
		}
		low = n
	}
	for high-low > 1 {
		n := (low + high) / 2
		t, err := z.try(n)
		if err != nil {
			return err
		}
		if f.add(t) {
			high = n
		} else {
			low = n
		}
	}
	slices.SortFunc(f.tries, func(a, b Try) int { return cmp.Compare(a.Replicas, b.Replicas) })
	return nil
}

// holds reports whether n replicas keep the promises for the load.
func (z *sizer) holds(n int) (bool, error) {
	t, err := z.try(n)
	return t.Holds, err
}

// grown returns the load at a rate that is ppm millionths of what it is: the same requests, closer
// together.
func grown(load []serving.Request, ppm int64) []serving.Request {
	if ppm == whole || len(load) == 0 {
		return load
	}
	out := slices.Clone(load)
	first := load[0].Arrival
	for i := range out {
		d := load[i].Arrival - first
		out[i].Arrival = first + d/ppm*whole + d%ppm*whole/ppm
	}
	return out
}
