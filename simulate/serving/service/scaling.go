package service

import (
	"errors"
	"slices"
	"strconv"
	"strings"

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

// scalerFields are the fields of a scaler of the kind of s.
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
		{"tz", "zone of the schedule: Europe/Berlin; default: UTC", readZone(&s.Zone)},
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

// readForeseen reads a forecast.
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
