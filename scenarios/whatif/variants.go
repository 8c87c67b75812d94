package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// SpeedWord asks Variants for the entries of the scenario's speed block, one by one.
const SpeedWord = "speed"

// Variant is a change to try, and what it is called.
type Variant struct {
	Name string
	Sets []string // overrides of the scenario, path=value
}

// Variants returns the variants that show what changes of a scenario are worth: the baseline, each change
// alone, and all together. A change is path=value against the scenario as it is. Without any, or with SpeedWord,
// the changes are the entries of its speed block, against a run without any. It fails with *capcli.RequestError.
func Variants(s *scenarios.Scenario, asked []string) ([]Variant, error) {
	if len(asked) == 0 || slices.Contains(asked, SpeedWord) {
		if len(asked) > 1 {
			return nil, &capcli.RequestError{Text: "the change " + SpeedWord + " goes alone", Hint: "or write each change out, such as 'speed[0].off=true'"}
		}
		return speedVariants(s)
	}
	out := []Variant{{Name: "as it is"}}
	var all, paths []string
	for _, change := range asked {
		path, _, ok := strings.Cut(change, "=")
		paths = append(paths, path)
		if !ok || path == "" {
			return nil, &capcli.RequestError{Text: fmt.Sprintf("a change is path=value, or %s; found %.60q", SpeedWord, change), Hint: "capacity[0].gpus=72, or speed for the entries of the speed block"}
		}
		if slices.ContainsFunc(out, func(v Variant) bool { return v.Name == change }) {
			return nil, &capcli.RequestError{Text: fmt.Sprintf("the change %.60q is there twice", change)}
		}
		out, all = append(out, Variant{change, []string{change}}), append(all, change)
	}
	slices.Sort(paths)
	if len(all) > 1 && len(slices.Compact(paths)) == len(all) { // two values of one field do not go together
		out = append(out, Variant{"all together", all})
	}
	return out, nil
}

// speedVariants returns a run without any entry of the speed block, with each alone, and with all.
func speedVariants(s *scenarios.Scenario) ([]Variant, error) {
	var on []int
	for i := range s.Speed {
		if !s.Speed[i].Off {
			on = append(on, i)
		}
	}
	if len(on) == 0 {
		return nil, &capcli.RequestError{Text: fmt.Sprintf("%s has no speed block, or all of it is off, and no change is given", s.Name), Hint: "give a change, such as capacity[0].gpus=72 or --set 'speed=[{busy: 60% -> 90%, because: input fixed}]'"}
	}
	except := func(keep int) (sets []string) {
		for _, i := range on {
			if i != keep {
				sets = append(sets, fmt.Sprintf("speed[%d].off=true", i))
			}
		}
		return sets
	}
	out := []Variant{{"without", except(-1)}}
	for _, i := range on {
		v := &s.Speed[i]
		name := cmp.Or(v.Because, v.Title())
		if slices.ContainsFunc(out, func(o Variant) bool { return o.Name == name }) {
			name = fmt.Sprintf("%s (speed[%d])", name, i)
		}
		out = append(out, Variant{name, except(i)})
	}
	if len(on) > 1 {
		out = append(out, Variant{Name: "all together"})
	}
	return out, nil
}

// Worth plays the variants of a question under the same seeds, and compares them with the first. The
// names of the plans are those of the variants. It also returns the runs, for their notes and conditions.
func Worth(ctx context.Context, maker *play.Maker, q play.Question, asked []string, r play.Request) (*outcome.Comparison, [][]*play.Run, error) {
	base, err := maker.Case(ctx, &q)
	if err != nil {
		return nil, nil, err
	}
	variants, err := Variants(base.Scenario, asked)
	if err != nil {
		return nil, nil, err
	}
	var cases []*play.Case
	for _, v := range variants {
		ask := q
		ask.Sets = slices.Concat(q.Sets, v.Sets)
		c, err := maker.Case(ctx, &ask)
		if err != nil {
			return nil, nil, err
		}
		c.Quiet, c.Scenario.Name = len(cases) > 0, v.Name
		cases = append(cases, c)
	}
	runs, err := play.Play(ctx, cases, r)
	if err != nil {
		return nil, nil, err
	}
	if err := play.CheckStarted(cases, runs); err != nil {
		return nil, nil, err
	}
	plans := make([]outcome.Plan, len(variants))
	for i := range plans {
		plans[i].Name = variants[i].Name
		for _, run := range runs[i] {
			plans[i].Runs = append(plans[i].Runs, run.Outcome)
		}
	}
	return outcome.Compare(plans), runs, nil
}

// WorthLead says in a sentence or two what the last plan of a comparison is worth against the first: the
// dollars of the run, the waits, and the committed GPUs that stand idle then, which are paid all the same.
func WorthLead(c *outcome.Comparison) string {
	last := len(c.Plans) - 1
	change := func(name string) (was, by float64, known bool) {
		m := outcome.MetricNamed(name)
		for i := range c.Figures {
			f := &c.Figures[i]
			if f.Metric == m && f.Means[0] != nil && f.Changes[last] != nil && !f.Changes[last].Mean.AtLeast && !f.Means[0].AtLeast {
				return f.Means[0].Value, f.Changes[last].Mean.Value, true
			}
		}
		return 0, 0, false
	}
	var out []string
	if was, by, known := change("cost"); known {
		out = append(out, fmt.Sprintf("%s: the cost goes from %s to %s.", c.Plans[last], capcli.USDOf(was).Brief(), capcli.USDOf(was+by).Brief()))
		if by <= -0.005 || by >= 0.005 {
			less := map[bool]string{true: "less", false: "more"}[by < 0]
			out[0] = fmt.Sprintf("%s costs %s %s than %s, which costs %s.", c.Plans[last], capcli.USDOf(max(by, -by)).Brief(), less, c.Plans[0], capcli.USDOf(was).Brief())
		}
	}
	if was, by, known := change("used_gpu_hours"); known {
		out = append(out, fmt.Sprintf("GPU-hours held go from %s to %s.", capcli.BriefNumber(was), capcli.BriefNumber(was+by)))
	}
	if was, by, known := change("wait_mean"); known {
		out = append(out, fmt.Sprintf("The mean wait goes from %s to %s.", capcli.Seconds(was+0.5), capcli.Seconds(was+by+0.5)))
	}
	if was, by, known := change("unserved_share"); known && (was >= 0.0005 || was+by >= 0.0005) {
		out = append(out, fmt.Sprintf("Work not done goes from %s to %s.", outcome.ShareText(was), outcome.ShareText(was+by)))
	}
	if _, by, known := change("stranded_usd"); known && by >= 0.005 {
		out = append(out, fmt.Sprintf("Of committed GPUs, %s more stands idle: it is paid until it is given up.", capcli.USDOf(by).Brief()))
	}
	return strings.Join(out, " ")
}

// speedKnobs returns the factors of the speed block that are stated as such.
func speedKnobs(s *scenarios.Scenario) []Knob {
	var out []Knob
	for i := range s.Speed {
		k := Knob{Path: fmt.Sprintf("speed[%d].factor", i), Label: "speed: " + s.Speed[i].Title(), Kind: Number, Value: s.Speed[i].Factor.String(), Min: 0.1, Max: 10, Step: 0.1}
		if _, err := s.With(k.Path + "=" + k.Value); err == nil {
			out = append(out, k)
		}
	}
	return out
}
