package outcome

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// Plan is the runs of one scenario, policy and placement.
type Plan struct {
	Name string // scenario/policy/placement
	Runs []Outcome
}

// Plans groups the runs by plan, in the order of their first runs.
func Plans(runs []Outcome) []Plan {
	var out []Plan
	for _, r := range runs {
		name := strings.Join([]string{r.Scenario, r.Policy, r.Placement}, "/")
		i := slices.IndexFunc(out, func(p Plan) bool { return p.Name == name })
		if i < 0 {
			out = append(out, Plan{Name: name})
			i = len(out) - 1
		}
		out[i].Runs = append(out[i].Runs, r)
	}
	return out
}

// Length returns the length of the runs; 0 if they differ.
func (p *Plan) Length() capcli.Seconds {
	for i := range p.Runs {
		if p.Runs[i].Ended != p.Runs[0].Ended {
			return 0
		}
	}
	return p.Runs[0].Ended
}

// compared are the metrics of a comparison, in its order.
var compared = []string{
	"cost", "cost_per_year", "per_used_gpu_hour", "on_demand_equivalent", "effective_savings_rate",
	"unserved_share", "unserved_gpu_hours", "unserved_jobs", "stranded_usd", "stranded_gpu_hours", "allocation_rate", "used_gpu_hours",
	"wait_mean", "wait_p50", "wait_p95", "queue_time_mean", "jct_mean", "bounded_slowdown_mean",
	"preemptions", "redone_gpu_hours", "finished",
}

// Comparison compares plans run by run: the document of compare.
type Comparison struct {
	Schema  string           `json:"schema"`
	Plans   []string         `json:"plans"`
	Runs    int              `json:"paired_runs"`
	Lengths []capcli.Seconds `json:"length_s"` // by plan; 0 if its runs differ
	Figures []ComparedFigure `json:"figures"`

	plans []Plan
	pairs []int // numbers of the runs that every plan has
}

// ComparedFigure is a metric of each plan, with its difference to the first plan over
// paired runs.
type ComparedFigure struct {
	Name       string     `json:"name"`
	Mean       []*float64 `json:"mean"`
	AtLeast    []*float64 `json:"mean_at_least,omitempty"` // by plan; lower bounds where the mean is not exact
	Difference []*Range   `json:"difference_to_first"`

	Metric  *Metric   `json:"-"`
	Means   []*Figure `json:"-"` // by plan; nil if unknown
	Changes []*Spread `json:"-"` // by plan; nil for the first plan, or if unknown
}

// Range is a mean and the range of 90% of the values.
type Range struct {
	Mean float64 `json:"mean"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
}

// Compare compares two or more plans. Runs of the same number have the same random draws, so they
// are compared in pairs.
func Compare(plans []Plan) *Comparison {
	out := &Comparison{Schema: "capcli/compare/v1", plans: plans, pairs: pairs(plans)}
	out.Runs = len(out.pairs)
	for i := range plans {
		out.Plans = append(out.Plans, plans[i].Name)
		out.Lengths = append(out.Lengths, plans[i].Length())
	}
	for _, name := range compared {
		out.Figures = append(out.Figures, out.figure(MetricNamed(name)))
	}
	return out
}

// pairs returns the numbers of the runs that every plan has.
func pairs(plans []Plan) []int {
	var out []int
	for _, r := range plans[0].Runs {
		all := true
		for _, p := range plans[1:] {
			all = all && slices.ContainsFunc(p.Runs, func(x Outcome) bool { return x.Run == r.Run })
		}
		if all {
			out = append(out, r.Run)
		}
	}
	return out
}

func (c *Comparison) figure(m *Metric) ComparedFigure {
	out := ComparedFigure{Name: m.Column(), Metric: m}
	least := make([]*float64, len(c.plans))
	for i := range c.plans {
		own, diffs := c.paired(m, i)
		mean, known := SpreadOver(own)
		switch {
		case !known:
			out.Mean, out.Means = append(out.Mean, nil), append(out.Means, nil)
		case mean.Mean.AtLeast:
			out.Mean, out.Means, least[i] = append(out.Mean, nil), append(out.Means, &mean.Mean), &mean.Mean.Value
			out.AtLeast = least
		default:
			out.Mean, out.Means = append(out.Mean, &mean.Mean.Value), append(out.Means, &mean.Mean)
		}
		var change *Spread
		var exact *Range
		if diff, known := SpreadOver(diffs); known {
			if change = &diff; !diff.Mean.AtLeast {
				exact = &Range{diff.Mean.Value, diff.Lo.Value, diff.Hi.Value}
			}
		}
		if i == 0 {
			out.Changes = append(out.Changes, nil)
			continue
		}
		out.Difference, out.Changes = append(out.Difference, exact), append(out.Changes, change)
	}
	return out
}

// paired returns the figures of plan i over the paired runs, and their differences to the first
// plan. Both are nil if a run lacks the figure. The differences are nil if the first plan lacks it
// or has only a lower bound.
func (c *Comparison) paired(m *Metric, i int) (own, diffs []Figure) {
	for _, run := range c.pairs {
		a, okA := m.readSaved(c.plans[0].find(run))
		b, okB := m.readSaved(c.plans[i].find(run))
		if !okB {
			return nil, nil
		}
		own = append(own, b)
		if okA && !a.AtLeast {
			diffs = append(diffs, Figure{Value: b.Value - a.Value, AtLeast: b.AtLeast})
		}
	}
	if len(diffs) != len(own) {
		diffs = nil
	}
	return own, diffs
}

func (p *Plan) find(run int) *Outcome {
	i := slices.IndexFunc(p.Runs, func(x Outcome) bool { return x.Run == run })
	return &p.Runs[i]
}

// readSaved reads the metric from a saved outcome. An old document may lack the figures of unserved
// work and of jobs that never started.
func (m *Metric) readSaved(o *Outcome) (Figure, bool) {
	f, known := m.get(o)
	return f, known && (!m.sinceServed || o.Possible > 0)
}

// Ranking is the figures by which a plan is ranked, as means of its runs; nil is unknown.
type Ranking struct {
	Name     string
	Length   capcli.Seconds // of a run; 0 is unknown
	Cost     *float64       // dollars
	Wait     *Figure        // 95th percentile, seconds
	Queued   *float64       // mean time in queues, seconds
	JCT      float64        // seconds
	Preempts bool
	Unserved *Unserved
}

// Rankings returns the ranking figures of each plan over the paired runs.
func (c *Comparison) Rankings() []Ranking {
	out := make([]Ranking, len(c.plans))
	for i := range c.plans {
		out[i] = c.ranking(i)
	}
	return out
}

func (c *Comparison) ranking(i int) Ranking {
	p := &c.plans[i]
	out := Ranking{Name: p.Name, Length: p.Length()}
	mean := func(name string) *Figure {
		own, _ := c.paired(MetricNamed(name), i)
		if s, ok := SpreadOver(own); ok {
			return &s.Mean
		}
		return nil
	}
	if f := mean("cost"); f != nil {
		out.Cost = &f.Value
	}
	out.Wait = mean("wait_p95")
	if f := mean("queue_time_mean"); f != nil {
		out.Queued = &f.Value
	}
	if f := mean("jct_mean"); f != nil {
		out.JCT = f.Value
	}
	if f := mean("preemptions"); f != nil {
		out.Preempts = f.Value > 0
	}
	if f := mean("unserved_share"); f != nil {
		out.Unserved = &Unserved{Share: f.Value, GPUHours: mean("unserved_gpu_hours").Value}
		for _, run := range c.pairs {
			jobs := &p.find(run).UnservedJobs
			out.Unserved.Waiting += float64(jobs.Waiting) / float64(len(c.pairs))
			out.Unserved.Unplaceable += float64(jobs.Unplaceable) / float64(len(c.pairs))
		}
	}
	return out
}

// Leaders are the best plans: the cheapest, the one with the shortest mean queue time,
// and the one with the least unserved work.
type Leaders struct {
	Cheapest, Quickest, Fullest *Ranking
	Priced                      bool // whether the cost of every plan is known
	SameCost                    bool // whether all known costs are equal
}

// LeadersOf returns the leaders of one or more plans. Of equal plans the first leads.
func LeadersOf(all []Ranking) Leaders {
	out := Leaders{Cheapest: &all[0], Quickest: &all[0], Fullest: &all[0], Priced: true, SameCost: true}
	for i := range all {
		r := &all[i]
		if r.Unserved != nil && out.Fullest.Unserved != nil && out.Fullest.Unserved.Exceeds(r.Unserved) {
			out.Fullest = r
		}
		if r.Queued != nil && (out.Quickest.Queued == nil || *r.Queued < *out.Quickest.Queued) {
			out.Quickest = r
		}
		if r.Cost == nil {
			out.Priced = false
			continue
		}
		out.SameCost = out.SameCost && all[0].Cost != nil && *r.Cost == *all[0].Cost
		if out.Cheapest.Cost != nil && *r.Cost < *out.Cheapest.Cost {
			out.Cheapest = r
		}
	}
	return out
}

// Split is the cost of plans by tenant, pool, tier, month or a tag: the document of compare
// --by.
type Split struct {
	Schema string      `json:"schema"`
	By     string      `json:"by"`
	Rows   []SplitCost `json:"rows"`
}

// SplitCost is a part of a plan's cost, as the mean of its runs.
type SplitCost struct {
	Plan  string     `json:"plan"`
	Part  string     `json:"part"`
	Cost  capcli.USD `json:"cost_usd"`
	Share float64    `json:"share"`

	Range Spread `json:"-"` // over the runs, in dollars
}

// SplitNames are the ways to split costs, beside the tags of the jobs.
var SplitNames = []string{"tenant", "pool", "tier", "month"}

// CheckSplit fails with a *capcli.RequestError if by is none of SplitNames and no job of the plans has
// a tag of that name. A tag with the name of another way is tag:NAME.
func CheckSplit(plans []Plan, by string) error {
	ways := slices.Clone(SplitNames)
	for i := range plans {
		for k := range plans[i].Runs {
			for _, b := range plans[i].Runs[k].Tags {
				if !slices.Contains(ways, b.Tag) {
					ways = append(ways, b.Tag)
				}
			}
		}
	}
	if name, isTag := strings.CutPrefix(by, tagPrefix); slices.Contains(ways, name) && (isTag || name == by) {
		return nil
	}
	hint := "have " + strings.Join(ways, ", ") + capcli.DidYouMean(by, ways)
	if len(ways) == len(SplitNames) {
		hint += "; the jobs of these results have no tags"
	}
	return &capcli.RequestError{Field: "by", Text: fmt.Sprintf(": no way %q to split the cost", by), Hint: hint}
}

// tagPrefix marks the name of a tag that is also another way to split costs.
const tagPrefix = "tag:"

// SplitCosts splits the mean cost of each plan. The parts of a run sum to its cost, to the
// millionth of a dollar.
func SplitCosts(plans []Plan, by string) *Split {
	out := &Split{Schema: "capcli/compare_by/v1", By: by, Rows: []SplitCost{}}
	for i := range plans {
		p := &plans[i]
		parts, total := map[string][]capcli.USD{}, capcli.USD(0)
		for k := range p.Runs {
			for name, usd := range p.Runs[k].parts(by) {
				if parts[name] == nil {
					parts[name] = make([]capcli.USD, len(p.Runs))
				}
				parts[name][k] = usd
			}
			if u := p.Runs[k].Cost.Total; u != nil {
				total += *u
			}
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			var sum capcli.USD
			var all []Figure
			for _, usd := range parts[name] {
				sum += usd
				all = append(all, Figure{Value: usd.Float()})
			}
			share, n := 0.0, capcli.USD(len(all))
			if total != 0 {
				share = sum.Float() / total.Float()
			}
			spread, _ := SpreadOver(all)
			out.Rows = append(out.Rows, SplitCost{p.Name, name, (sum + n/2) / n, share, spread})
		}
	}
	return out
}

// parts returns the cost of a run by tenant, pool, tier, month or the values of a tag.
func (o *Outcome) parts(by string) map[string]capcli.USD {
	out := map[string]capcli.USD{}
	switch by {
	case "tenant":
		maps.Copy(out, o.Cost.ByTenant)
		if u := o.Cost.Unallocated; u != nil && *u != 0 {
			out["(nobody)"] += *u
		}
	case "tier":
		maps.Copy(out, o.Cost.ByTier)
	case "month":
		maps.Copy(out, o.Cost.ByMonth)
	case "pool":
		for _, p := range o.Pools {
			if p.Cost != nil {
				out[p.Name] += *p.Cost
			}
		}
	default:
		o.tagParts(out, strings.TrimPrefix(by, tagPrefix))
	}
	return out
}

// NameApart gives plans of one name the names of what they were read from as well, sources by plan, so
// that each plan of a comparison has a name of its own.
func NameApart(plans []Plan, sources []string) {
	names := capcli.Map(plans, func(x Plan) string { return x.Name })
	for i, name := range names {
		alike := 0
		for k := range names {
			if names[k] != name || k == i {
				continue
			}
			if alike = max(alike, 1); sources[k] == sources[i] {
				alike = 2
			}
		}
		switch alike {
		case 1:
			plans[i].Name = fmt.Sprintf("%s (%s)", name, sources[i])
		case 2:
			plans[i].Name = fmt.Sprintf("%s (%s, number %d)", name, sources[i], i+1)
		}
	}
}

// PeriodsText says from when to when plans were played: "2027-01-04 to 2027-01-10", or that of each plan
// where they differ; "" where runs of a plan differ.
func PeriodsText(plans []Plan) string {
	var periods, texts []string
	for i := range plans {
		r := &plans[i].Runs[0]
		if plans[i].Length() == 0 || !r.Start.IsKnown() || slices.ContainsFunc(plans[i].Runs, func(o Outcome) bool { return o.Start != r.Start }) {
			return ""
		}
		period := fmt.Sprintf("%s to %s", r.Start.Date(), (r.Start + capcli.Time(max(1, r.Ended)) - 1).Date())
		if !slices.Contains(periods, period) {
			periods = append(periods, period)
		}
		texts = append(texts, plans[i].Name+" "+period)
	}
	if len(periods) == 1 {
		return periods[0]
	}
	return strings.Join(texts, ", ")
}
