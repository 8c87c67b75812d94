package service

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
	"capcli/simulate/serving/scale"
)

// Scaling says in which steps a service is looked at, and how its replicas follow its load.
type Scaling struct {
	Scaler *scale.Settings // nil keeps the replicas as they are

	Step      capcli.Seconds // length of a step; 0 is not given
	PerStep   int64          // requests that a ready replica serves in a step; 0 is not given
	ColdSteps int            // from the order of a replica to its first step; -1 is not given
	ColdStart capcli.Seconds // the same as a time; -1 is not given
	LateSteps int            // requests served more than so many steps after theirs are late
	Initial   int            // replicas at the start; -1 is not given
	Losses    []scale.Loss
	Arrivals  []int64 // requests of each step, where the file itself has them
}

// scalingStart are the values of fields that are not given.
var scalingStart = Scaling{ColdSteps: -1, ColdStart: -1, Initial: -1}

const (
	maxSteps = 1_000_000
	maxUnits = 1_000_000
)

func (s *Spec) scalingFields() []strict.Field {
	s.Scaling = scalingStart
	return []strict.Field{
		{"scaler", "how the number of replicas follows the load", ReadScaler(&s.Scaler)},
		{"step", "length of a step: 15s", strict.Duration(&s.Step, 1)},
		{"dt", "the same, in seconds", strict.Duration(&s.Step, 1)},
		{"mu", "requests that a ready replica serves in a step", strict.Integer(&s.PerStep, 1, 1_000_000_000_000)},
		{"cold_start", "time from the order of a replica to its first request: 3m", strict.Duration(&s.ColdStart, 0)},
		{"cold_steps", "the same, in steps", strict.Integer(&s.ColdSteps, 0, maxSteps)},
		{"late_steps", "a request is late if it is served more than so many steps after its own", strict.Integer(&s.LateSteps, 0, maxSteps)},
		{"initial", "replicas at the start", strict.Integer(&s.Initial, 0, maxUnits)},
		{"losses", "ready replicas that are lost: [[step, replicas], …]", s.readLosses},
		{"load", "requests of each step", s.readArrivals},
	}
}

func (s *Spec) checkScaling(o *strict.Object) {
	for _, two := range [][2]string{{"step", "dt"}, {"cold_start", "cold_steps"}} {
		if o.Has(two[0]) && o.Has(two[1]) {
			o.FaultName(two[1], "%s and %s say the same; give one", two[0], two[1])
		}
	}
	if p := o.Value("policy"); o.Has("scaler") && p != nil && p.Kind == yaml.MappingNode {
		o.FaultName("policy", "scaler and policy with kind are the same; give one")
	}
}

// readPolicy reads policy, which is the name of the batching policy or, as a map, the scaler.
func (s *Spec) readPolicy(d *strict.Decoder, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		ReadScaler(&s.Scaler)(d, n)
		return
	}
	strict.Choice(&s.Config.Policy, "policy", serving.Batchings.Names()...)(d, n)
}

func (s *Spec) readLosses(d *strict.Decoder, n *yaml.Node) {
	d.ReadList(n, maxSteps, "losses", func(_ int, n *yaml.Node) {
		var l scale.Loss
		readTuple(d, n, "[step, replicas]", strict.Integer(&l.Step, 0, scale.MaxSteps), strict.Integer(&l.Units, 0, maxUnits))
		if i := len(s.Losses); i > 0 && l.Step < s.Losses[i-1].Step {
			d.Fault(n, "a loss in step %d after one in step %d; write them in order", l.Step, s.Losses[i-1].Step)
		}
		s.Losses = append(s.Losses, l)
	})
}

// readArrivals reads the load of each step.
func (s *Spec) readArrivals(d *strict.Decoder, n *yaml.Node) {
	d.ReadList(n, maxSteps, "requests", func(_ int, n *yaml.Node) {
		var x int64
		strict.Integer(&x, 0, 1_000_000_000_000)(d, n)
		s.Arrivals = append(s.Arrivals, x)
	})
}

// readTuple reads a list of exactly as many values as there are readers.
func readTuple(d *strict.Decoder, n *yaml.Node, form string, readers ...strict.Reader) {
	if n.Kind == yaml.SequenceNode && !d.IsDescribing(n) && len(n.Content) != len(readers) {
		d.Fault(n, "want %s, found %d values", form, len(n.Content))
		return
	}
	d.ReadList(n, len(readers), form, func(i int, n *yaml.Node) { readers[min(i, len(readers)-1)](d, n) })
}

// ReadScaler returns a reader of a scaler: a map with its kind and settings, or its kind alone. What a
// scaler does not know, and what it lacks, are faults.
func ReadScaler(dst **scale.Settings) strict.Reader {
	kinds := scale.Catalog.Names()
	return func(d *strict.Decoder, n *yaml.Node) {
		fields := func(kind string) []strict.Field { return scalerFields(&scale.Settings{Kind: kind}) }
		if d.AcceptsForms(n, "kind", kinds, fields) {
			d.Accepts(n, kinds...)
			return
		}
		s := &scale.Settings{}
		kind := n
		if n.Kind == yaml.MappingNode {
			if kind = strict.Child(n, "kind"); kind == nil {
				d.Fault(n, "kind is missing: %s", strings.Join(kinds, ", "))
				return
			}
		}
		before := d.FaultCount()
		if strict.Choice(&s.Kind, "scaler", kinds...)(d, kind); d.FaultCount() > before {
			return
		}
		var o *strict.Object
		if n.Kind == yaml.MappingNode {
			if o = d.ReadObject(n, "scaler "+s.Kind, scalerFields(s)); o == nil {
				return
			}
		}
		if d.FaultCount() == before {
			checkScaler(d, n, o, s)
		}
		*dst = s
	}
}

// checkScaler adds the fault that the scaler itself finds.
func checkScaler(d *strict.Decoder, n *yaml.Node, o *strict.Object, s *scale.Settings) {
	_, err := scale.NewScaler(s)
	var request *capcli.RequestError
	switch {
	case !errors.As(err, &request):
	case o == nil:
		d.Fault(n, "%s", request.Error())
	case o.Has(request.Field):
		o.Fault(request.Field, "%s", request.Error())
	default:
		o.FaultMissing(request.Field, "%s", request.Error())
	}
}

func scalerFields(s *scale.Settings) []strict.Field {
	fields := []strict.Field{{"kind", "the scaler", strict.Choice(&s.Kind, "scaler", s.Kind)}}
	if s.Kind != "none" {
		fields = append(fields, []strict.Field{
			{"min", "least replicas or nodes; default: 0", strict.Integer(&s.Min, 0, maxUnits)},
			{"max", "most replicas or nodes", strict.Integer(&s.Max, 1, maxUnits)},
		}...)
	}
	settings, err := scale.SettingsOf(s.Kind)
	if err != nil {
		return fields
	}
	s.Values, s.Lengths = map[string]float64{}, map[string]capcli.Seconds{}
	for _, x := range settings {
		fields = append(fields, strict.Field{Name: x.Name, Doc: x.Doc, Read: readSetting(s, x)})
	}
	switch s.Kind {
	case "hpa":
		fields = append(fields, strict.Field{Name: "behavior", Doc: "how fast it goes up and down, as Kubernetes writes it", Read: behaviorSection.Reader(&s.Behavior)})
	case "forecast":
		fields = append(fields, strict.Field{Name: "forecast", Doc: "the load foreseen at the end of each step: a list", Read: readForeseen(&s.Foreseen)})
	case "predictive", "blend":
		fields = append(fields, strict.Field{Name: "model", Doc: "the model that foresees; default: the season before", Read: strict.Name(&s.Model)})
	}
	return append(fields, []strict.Field{
		{"schedule", "limits, or for scheduled the units, by time of day and week; the first window that holds counts", windowSection(s).List(&s.Schedule, 1000, "windows")},
		{"tz", "zone of the schedule: Europe/Berlin; default: UTC", ReadZone(&s.Zone)},
		{"budget", "what happens once the units have cost so much", budgetSection.Pointer(&s.Budget)},
	}...)
}

// readSetting reads a setting that a scaler declares.
func readSetting(s *scale.Settings, x scale.Setting) strict.Reader {
	switch x.Unit {
	case scale.Length:
		return func(d *strict.Decoder, n *yaml.Node) {
			v := capcli.Seconds(-1)
			if strict.Duration(&v, capcli.Seconds(x.Lo))(d, n); v >= 0 {
				s.Values[x.Name] = float64(v)
			}
		}
	case scale.Steps:
		return readSteps(s, x)
	case scale.Whole:
		return func(d *strict.Decoder, n *yaml.Node) {
			v := int64(x.Lo) - 1
			if strict.Integer(&v, int64(x.Lo), int64(x.Hi))(d, n); v >= int64(x.Lo) {
				s.Values[x.Name] = float64(v)
			}
		}
	default:
		return func(d *strict.Decoder, n *yaml.Node) {
			v := x.Lo - 1
			if strict.Number(&v, x.Lo, x.Hi)(d, n); v >= x.Lo {
				s.Values[x.Name] = v
			}
		}
	}
}

// readSteps reads a number of steps, or a length of time with its unit.
func readSteps(s *scale.Settings, x scale.Setting) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if _, err := strconv.ParseInt(n.Value, 10, 64); err == nil || d.IsDescribing(n) {
			v := int64(-1)
			if strict.Integer(&v, int64(x.Lo), int64(x.Hi))(d, n); v >= 0 {
				s.Values[x.Name] = float64(v)
			}
			d.AcceptsText(n, "a length of time such as 10m")
			return
		}
		text, ok := d.ReadScalar(n, "a number of steps, or a length of time such as 10m")
		if !ok {
			return
		}
		v, err := capcli.ParseSeconds(text)
		if err != nil || v < 1 || v > strict.Longest {
			d.FaultWant(n, "a number of steps, or a length of time such as 10m")
			return
		}
		s.Lengths[x.Name] = v
	}
}

func readForeseen(dst *[]float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxSteps, "numbers", func(_ int, n *yaml.Node) {
			x := -1.0
			strict.Number(&x, 0, 1e15)(d, n)
			*dst = append(*dst, x)
		})
		if slices.Contains(*dst, -1) { // a fault was added
			*dst = nil
		}
	}
}

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

// ReadZone returns a reader of a time zone.
func ReadZone(dst **time.Location) strict.Reader {
	const form = "a time zone such as Europe/Berlin or UTC"
	return strict.Value(dst, form, form, func(text string) (*time.Location, bool) {
		zone, err := time.LoadLocation(text)
		return zone, err == nil && text != "" && text != "Local"
	})
}

// StepLength returns the length of a step: a minute where none is given.
func (s *Spec) StepLength() capcli.Seconds {
	if s.Step == 0 {
		return capcli.Minute
	}
	return s.Step
}

// ColdStepCount returns the steps from the order of a replica to its first one, rounded up.
func (s *Spec) ColdStepCount() int {
	cold := s.ColdStart
	switch {
	case s.ColdSteps >= 0:
		return s.ColdSteps
	case cold < 0:
		cold = capcli.Seconds((s.Config.Cold + 999_999) / 1_000_000)
	}
	return int((cold + s.StepLength() - 1) / s.StepLength())
}

// InitialReplicas returns the replicas at the start: initial, or replicas, or the least of the scaler, and
// at least one, where neither is given.
func (s *Spec) InitialReplicas() int {
	switch {
	case s.Initial >= 0:
		return s.Initial
	case len(s.Config.Replicas) > 0:
		return len(s.Config.Replicas)
	case s.Scaler != nil:
		return max(1, s.Scaler.Min)
	}
	return 1
}

// ScaleCase returns the service as a case for scale.Play, for the load of a file. A nil load is that of the
// service itself. The error is a *capcli.InputError at a field of the service.
func (s *Spec) ScaleCase(load []int64) (*scale.Case, error) {
	if load == nil {
		load = s.Arrivals
	}
	if len(load) == 0 {
		return nil, s.fault("load", "no load: give the requests of each step, in a file with a column load or as a list")
	}
	if s.PerStep == 0 {
		return nil, s.fault("mu", "mu is missing: the requests that a ready replica serves in a step")
	}
	c := &scale.Case{
		Length: s.StepLength(), PerUnit: s.PerStep, ColdSteps: s.ColdStepCount(), LateSteps: s.LateSteps,
		Initial: s.InitialReplicas(), Scaler: s.Scaler, Load: load, Losses: s.Losses,
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c, nil
}

// fault returns an error at a field of the service, without the name of the file.
func (s *Spec) fault(field, text string) error {
	e := &capcli.InputError{Field: field, Text: text}
	if s.node != nil {
		e.Line = s.node.Line
		if n := strict.Child(s.node, field); n != nil {
			e.Line = n.Line
		}
	}
	return e
}
