package play

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// tagBills returns the jobs and the costs of the run by tag. It fails if the values of a tag do not
// sum to the invoice, to the millionth of a dollar.
func (r *Run) tagBills() ([]outcome.TagBill, error) {
	jobs := map[capcli.Tag]*simulate.TagResult{}
	for i := range r.Result.Tags {
		jobs[r.Result.Tags[i].Tag] = &r.Result.Tags[i]
	}
	var out []outcome.TagBill
	var sum capcli.USD
	costs := r.Invoice.ByTags(r.Result.Record)
	for i := range costs {
		c := &costs[i]
		if n := len(out); n == 0 || out[n-1].Tag != c.Name {
			out, sum = append(out, outcome.TagBill{Tag: c.Name}), 0
		}
		bill := &out[len(out)-1]
		bill.Values = append(bill.Values, r.tagValue(c, jobs[c.Tag]))
		if sum += c.Total; i+1 < len(costs) && costs[i+1].Name == c.Name {
			continue
		}
		if sum != r.Invoice.Total.Cost {
			return nil, fmt.Errorf("the invoice is %s, the values of tag %s sum to %s", r.Invoice.Total.Cost.Decimal(), c.Name, sum.Decimal())
		}
		sortByCost(bill.Values)
	}
	return out, nil
}

// tagValue returns the figures of one value of a tag; jobs is nil if no job has it.
func (r *Run) tagValue(c *billing.TagCost, jobs *simulate.TagResult) outcome.TagValue {
	v := outcome.TagValue{
		Value: c.Value, Used: c.Used, Redone: c.Lost, ServedShare: 1,
		Direct: r.pricedOrNil(c.Direct), Share: r.pricedOrNil(c.Share), Cost: r.pricedOrNil(c.Total),
	}
	if jobs != nil {
		v.Jobs, v.Finished, v.Preemptions, v.JCTMean = jobs.Jobs, jobs.Finished, jobs.Preempted, jobs.MeanJCT
		v.Waits, v.ServedShare = outcome.WaitsOf(&jobs.Wait), jobs.ServedShare()
	}
	if r.Priced() {
		v.ByTier = map[string]capcli.USD{}
		for tier, cost := range c.ByTier {
			if cost != 0 {
				v.ByTier[billing.Tier(tier).String()] = cost
			}
		}
	}
	return v
}

// sortByCost sorts values: highest cost first, then most GPU time, then by value.
func sortByCost(values []outcome.TagValue) {
	cost := func(v *outcome.TagValue) capcli.USD {
		if v.Cost == nil {
			return 0
		}
		return *v.Cost
	}
	slices.SortFunc(values, func(a, b outcome.TagValue) int {
		return cmp.Or(cmp.Compare(cost(&b), cost(&a)), cmp.Compare(b.Used, a.Used), cmp.Compare(a.Value, b.Value))
	})
}

// TagLine is one value of a tag, or the sum of several.
type TagLine struct {
	Tag string `json:"tag"`
	outcome.TagValue
}

// TagsByCost returns the values of each tag in several runs, highest cost first, each with its figures
// in each run. Values of a tag after the first most are summed in one row named by their number;
// most 0 lists all. Tags are in order of name.
func TagsByCost(runs []*Run, most int) [][]*TagLine {
	var names []string
	for _, r := range runs {
		for i := range r.Tags {
			names = append(names, r.Tags[i].Tag)
		}
	}
	slices.Sort(names)
	var out [][]*TagLine
	for _, name := range slices.Compact(names) {
		values := tagValues(runs, name)
		shown := len(values)
		if most > 0 && shown > most+1 {
			shown = most
		}
		for i := range values[:shown] {
			out = append(out, sumTags(runs, name, cmp.Or(values[i], capcli.NoTag), values[i:i+1]))
		}
		if rest := values[shown:]; len(rest) > 0 {
			out = append(out, sumTags(runs, name, fmt.Sprintf("%d more", len(rest)), rest))
		}
	}
	return out
}

// tagValues returns the values of a tag in all runs, highest cost first.
func tagValues(runs []*Run, name string) []string {
	sums := map[string]*outcome.TagValue{}
	for _, r := range runs {
		if b := r.FindTag(name); b != nil {
			for i := range b.Values {
				v := &b.Values[i]
				if sums[v.Value] == nil {
					sums[v.Value] = &outcome.TagValue{Value: v.Value}
				}
				addTag(sums[v.Value], v)
			}
		}
	}
	var all []outcome.TagValue
	for _, v := range sums {
		all = append(all, *v)
	}
	sortByCost(all)
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].Value
	}
	return out
}

// sumTags returns the sum of some values of a tag in each run. A sum of several has no waits.
func sumTags(runs []*Run, name, label string, values []string) []*TagLine {
	out := make([]*TagLine, len(runs))
	for i, r := range runs {
		out[i] = &TagLine{Tag: name}
		if b := r.FindTag(name); b != nil {
			for k := range b.Values {
				switch v := &b.Values[k]; {
				case !slices.Contains(values, v.Value):
				case len(values) == 1:
					out[i].TagValue = *v
				default:
					addTag(&out[i].TagValue, v)
				}
			}
		}
		if r.Priced() && out[i].Cost == nil { // without jobs in this run it costs nothing
			out[i].Direct, out[i].Share, out[i].Cost = new(capcli.USD), new(capcli.USD), new(capcli.USD)
		}
		out[i].Value = label
	}
	return out
}

// addTag adds the jobs, the GPU time and the costs of v to sum.
func addTag(sum, v *outcome.TagValue) {
	sum.Jobs += v.Jobs
	sum.Used += v.Used
	for _, x := range []struct {
		to   **capcli.USD
		from *capcli.USD
	}{{&sum.Direct, v.Direct}, {&sum.Share, v.Share}, {&sum.Cost, v.Cost}} {
		if x.from == nil {
			continue
		}
		if *x.to == nil {
			*x.to = new(capcli.USD)
		}
		**x.to += *x.from
	}
}
