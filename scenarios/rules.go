package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

var overflowSection = strict.Section[Overflow]{Name: "overflow", Fields: func(o *Overflow) []strict.Field {
	return []strict.Field{
		{"order", "kinds or names of pools, first to be tried first: [on_demand, spot]; [cheapest] is all others by what a job costs there in all", strict.Names(&o.Order, "kinds or names of pools")},
		{"patience", "how long a job waits for committed capacity: 30m, never, or a list of {class, max_run, wait}; default: 0", patiences(&o.Patience)},
		{"patience_per_gpu_hour", "wait in addition for each GPU-hour that the job is believed to need", perHour(&o.PerGPUHour)},
		{"queue_max", "with more jobs waiting than this, the last go on at once", strict.Integer(&o.QueueMax, 1, 1_000_000_000)},
	}
}, Check: func(_ *strict.Object, o *Overflow) {
	if o.PerGPUHour == 0 {
		return
	}
	if len(o.Patience) == 0 {
		o.Patience = []simulate.Patience{{}}
	}
	for i := range o.Patience {
		if p := &o.Patience[i]; p.Wait >= 0 {
			p.PerHour = o.PerGPUHour
		}
	}
}}

// perHour reads a length of time per hour, in hours. It may be a fraction of a second:
// 273.6s or 0.076h.
func perHour(dst *float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.AcceptsText(n, "a length of time for each GPU-hour, such as 273.6s")
		unit := 1.0
		number, hours := strings.CutSuffix(n.Value, "h")
		if !hours {
			number, hours = strings.CutSuffix(n.Value, "s")
			unit = 3600
		}
		if v, err := strconv.ParseFloat(number, 64); hours && err == nil && v >= 0 && v/unit <= strict.Longest.Hours() {
			*dst = v / unit
			return
		}
		var s capcli.Seconds
		strict.Duration(&s, 0)(d, n)
		*dst = s.Hours()
	}
}

// patiences reads one wait for all jobs, or one for each class and range of run times.
func patiences(dst *[]simulate.Patience) strict.Reader {
	section := patienceSection
	section.Check = func(o *strict.Object, p *simulate.Patience) {
		if !o.Has("wait") {
			o.FaultMissing("wait", "wait is missing: how long such jobs wait, or never")
		}
		taken := slices.ContainsFunc(*dst, func(q simulate.Patience) bool {
			return (q.Class == "" || q.Class == p.Class) && (q.MaxRun == 0 || p.MaxRun > 0 && p.MaxRun <= q.MaxRun)
		})
		if taken && o.IsClean("max_run") {
			o.Fault("max_run", "this line is never reached: an earlier one takes the same jobs; put the shortest max_run first, and lines for all classes last")
		}
	}
	list := section.List(dst, maxList, "{class, max_run, wait}")
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			list(d, n)
			return
		}
		var p simulate.Patience
		patience(&p.Wait)(d, n)
		*dst = []simulate.Patience{p}
	}
}

var patienceSection = strict.Section[simulate.Patience]{Name: "overflow.patience", Fields: func(p *simulate.Patience) []strict.Field {
	return []strict.Field{
		{"class", "for jobs of this kind of work; default: all", strict.Name(&p.Class)},
		{"max_run", "for jobs believed to run no longer; default: all", strict.Duration(&p.MaxRun, 1)},
		{"wait", "how long they wait for committed capacity, or never", patience(&p.Wait)},
	}
}}

// checkOverflow checks that the order names elastic pools that exist.
func (s *Scenario) checkOverflow(o *strict.Object) {
	if n := o.Value("overflow"); n == nil || n.Kind != yaml.MappingNode || len(s.Overflow.Order) == 0 {
		return
	}
	elastic := []string{simulate.OnDemand.String(), simulate.Spot.String(), perUse}
	names := append(slices.Clone(elastic), cheapest)
	committed := []string{"committed", simulate.Owned.String(), simulate.Reserved.String()}
	for _, c := range s.Capacity {
		if c.Kind.Committed() {
			committed = append(committed, c.Name)
		} else {
			names = append(names, c.Name)
		}
	}
	list := strict.Child(strict.Child(o.Node, "overflow"), "order")
	if list == nil {
		return
	}
	o.Decoder.Enter("overflow")
	o.Decoder.Enter("order")
	defer o.Decoder.Leave()
	defer o.Decoder.Leave()
	for i, n := range list.Content {
		earlier := func(of []string) bool {
			return slices.ContainsFunc(list.Content[:i], func(m *yaml.Node) bool { return slices.Contains(of, m.Value) })
		}
		switch {
		case earlier([]string{n.Value}):
			o.Decoder.Fault(n, "%s is there twice", capcli.Quoted(n.Value))
		case slices.Contains(names, n.Value):
		case slices.Contains(committed, n.Value):
			if earlier(names) {
				o.Decoder.Fault(n, "%s is committed capacity, which is always first; name it first or not at all", capcli.Quoted(n.Value))
			}
		default:
			o.Decoder.Fault(n, "no pool is called %s and no kind%s", capcli.Quoted(n.Value), capcli.DidYouMean(n.Value, names))
		}
	}
}

// Never is a wait without an end.
const Never capcli.Seconds = -1

// patience reads a length of time, or never.
func patience(dst *capcli.Seconds) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.Accepts(n, "never")
		if n.Kind == yaml.ScalarNode && n.Value == "never" {
			*dst = Never
			return
		}
		strict.Duration(dst, 0)(d, n)
	}
}
