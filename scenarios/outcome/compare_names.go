package outcome

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// NameApart gives plans of one name the names of what they were read from as well, sources by plan, so
// that each plan of a comparison has a name of its own.
func NameApart(plans []Plan, sources []string) {
	names := make([]string, len(plans))
	for i := range plans {
		names[i] = plans[i].Name
	}
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
