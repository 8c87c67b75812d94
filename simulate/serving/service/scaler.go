package service

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/scale"
)

// behaviorSection is how fast hpa goes up and down. It takes the names of Kubernetes' objects too.
var behaviorSection = strict.Section[scale.Behavior]{Name: "behavior", Fields: func(b *scale.Behavior) []strict.Field {
	return []strict.Field{
		{"up", "limits of a rise", ratesSection.Reader(&b.Up)},
		{"down", "limits of a fall", ratesSection.Reader(&b.Down)},
		{"scaleUp", "the same as up", ratesSection.Reader(&b.Up)},
		{"scaleDown", "the same as down", ratesSection.Reader(&b.Down)},
	}
}}

var ratesSection = strict.Section[scale.Rates]{Name: "behavior", Fields: func(r *scale.Rates) []strict.Field {
	window := func(d *strict.Decoder, n *yaml.Node) {
		strict.Duration(&r.Window, 0)(d, n)
		r.HasWindow = true
	}
	choose := strict.Choice(&r.Select, "choice", "Max", "Min", "Disabled")
	return []strict.Field{
		{"window", "recommendations of this time hold a change back; default: 0s up, 5m down", window},
		{"select", "the policy that counts: of the most change (Max), of the least (Min), or no change (Disabled)", choose},
		{"policies", "most change within a period: [[Percent, 100, 15], [Pods, 4, 15]]", readRates(&r.Rates)},
		{"stabilizationWindowSeconds", "the same as window", window},
		{"selectPolicy", "the same as select", choose},
	}
}}

// readRates reads a list of rates, each [kind, value, seconds] or a map as in Kubernetes' objects.
func readRates(dst *[]scale.Rate) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, 100, "policies", func(_ int, n *yaml.Node) {
			var r scale.Rate
			kind := strict.Choice(&r.Kind, "kind of policy", scale.Percent, scale.Pods)
			value, period := strict.Integer(&r.Value, 0, maxUnits), strict.Duration(&r.Period, 1)
			if d.IsDescribing(n) || n.Kind == yaml.MappingNode {
				d.ReadObject(n, "a policy", []strict.Field{
					{"type", "Percent or Pods", kind},
					{"value", "percentage or number of pods", value},
					{"periodSeconds", "the period", period},
				}).Require("type", "value", "periodSeconds")
			}
			if d.IsDescribing(n) || n.Kind != yaml.MappingNode {
				readTuple(d, n, "[Percent or Pods, value, seconds]", kind, value, period)
			}
			*dst = append(*dst, r)
		})
	}
}

// budgetSection is a guard of the budget.
var budgetSection = strict.Section[scale.Budget]{Name: "budget", Start: scale.Budget{Then: scale.BudgetQueue}, Needs: []string{"hours"}, Fields: func(b *scale.Budget) []strict.Field {
	return []strict.Field{
		{"hours", "unit-hours that may be used, loading ones included", strict.Number(&b.Hours, 1e-9, 1e12)},
		{"then", "what happens then: stop (no unit), degrade (keep units stay) or queue (none is added); default: queue", strict.Choice(&b.Then, "choice", scale.BudgetStop, scale.BudgetDegrade, scale.BudgetQueue)},
		{"keep", "degrade: the units that stay", strict.Integer(&b.Keep, 1, maxUnits)},
	}
}}

// windowSection is a window of the schedule of s.
func windowSection(s *scale.Settings) *strict.Section[scale.Window] {
	every := [7]bool{true, true, true, true, true, true, true}
	section := &strict.Section[scale.Window]{Name: "schedule", Start: scale.Window{Days: every, To: capcli.Day, Units: -1, Min: -1, Max: -1}}
	section.Fields = func(w *scale.Window) []strict.Field {
		fields := []strict.Field{
			{"days", "days on which it begins: mon-fri, or sat, sun; default: every day", readDays(&w.Days)},
			{"from", "time of the day: 08:00; default: 00:00", readClock(&w.From)},
			{"to", "end: 20:00; at or before from is the next day; default: 24:00", readClock(&w.To)},
		}
		if s.Kind == "scheduled" {
			return append(fields, strict.Field{Name: "units", Doc: "the units", Read: strict.Integer(&w.Units, 0, maxUnits)})
		}
		return append(fields, []strict.Field{
			{"min", "least units", strict.Integer(&w.Min, 0, maxUnits)},
			{"max", "most units", strict.Integer(&w.Max, 0, maxUnits)},
		}...)
	}
	return section
}

var dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// readDays reads days of the week: mon-fri, or sat, sun.
func readDays(dst *[7]bool) strict.Reader {
	const form = "days such as mon-fri, or sat, sun"
	return strict.Value(dst, form, form, func(text string) ([7]bool, bool) {
		var days [7]bool
		for part := range strings.SplitSeq(strings.ToLower(text), ",") {
			first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
			if !isRange {
				last = first
			}
			from, to := slices.Index(dayNames, first), slices.Index(dayNames, last)
			if from < 0 || to < 0 {
				return days, false
			}
			for i := from; ; i = (i + 1) % 7 {
				if days[i] = true; i == to {
					break
				}
			}
		}
		return days, true
	})
}

// readClock reads a time of the day; 24:00 is its end.
func readClock(dst *capcli.Seconds) strict.Reader {
	const form = "a time of the day such as 08:00"
	return strict.Value(dst, form, form, func(text string) (capcli.Seconds, bool) {
		if text == "24:00" {
			return capcli.Day, true
		}
		t, err := time.Parse("15:04", text)
		return capcli.Seconds(t.Hour()*3600 + t.Minute()*60), err == nil
	})
}

// readZone reads a time zone.
func readZone(dst **time.Location) strict.Reader {
	const form = "a time zone such as Europe/Berlin or UTC"
	return strict.Value(dst, form, form, func(text string) (*time.Location, bool) {
		zone, err := time.LoadLocation(text)
		return zone, err == nil && text != "" && text != "Local"
	})
}
