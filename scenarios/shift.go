package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/shift"
)

// Shift says which jobs may start later than they could, and what for.
type Shift struct {
	By             string // carbon, price or both
	Policy         string
	Most           capcli.Seconds
	Step           capcli.Seconds
	Length         capcli.Seconds // run time that the choice is made for; 0 is that which is believed
	Exact          bool           // the true run time
	MaxRun         capcli.Seconds
	CommittedFirst bool
	Classes        []string
	Tenants        []string
	Partitions     []string
}

var shiftBys = []string{"carbon", "price", "both"}

var shiftSection = strict.Section[Shift]{Name: "shift", Start: Shift{By: "carbon", Policy: "lowest-window"}, Fields: func(s *Shift) []strict.Field {
	return []strict.Field{
		{"by", "what is to be low: carbon (default), price of on-demand or spot, or both, with the carbon_price of energy", strict.Choice(&s.By, "by", shiftBys...)},
		{"policy", "how the start is chosen: " + strings.Join(shift.Policies.Names(), ", ") + "; default: lowest-window", strict.Choice(&s.Policy, "policy of shifting", shift.Policies.Names()...)},
		{"most", "longest time that a start is put off: 24h; default: only jobs whose data states shiftable", strict.Duration(&s.Most, 0)},
		{"step", "time between two starts that are looked at, 1h in GAIA; default: every second", strict.Duration(&s.Step, 0)},
		{"length", "run time that the choice is made for: believed (default), true, or the average of the class such as 2h", readLength(s)},
		{"max_run", "for jobs believed to run no longer; default: all", strict.Duration(&s.MaxRun, 1)},
		{"committed_first", "true: committed capacity may be used at once, and only on-demand and spot wait", strict.Bool(&s.CommittedFirst)},
		{"classes", "kinds of work that it is for; default: all", strict.Names(&s.Classes, "classes")},
		{"tenants", "tenants that it is for", strict.Names(&s.Tenants, "tenants")},
		{"partitions", "partitions that it is for", strict.Names(&s.Partitions, "partitions")},
	}
}}

// readLength reads believed, true or a length of time.
func readLength(s *Shift) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.Accepts(n, "believed", "true")
		switch {
		case n.Kind == yaml.ScalarNode && n.Value == "believed":
		case n.Kind == yaml.ScalarNode && n.Value == "true":
			s.Exact = true
		default:
			strict.Duration(&s.Length, 1)(d, n)
		}
	}
}

// shifts reads one rule, or a list of rules.
func shifts(dst *[]Shift) strict.Reader {
	list := shiftSection.List(dst, maxList, "rules of shifting")
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			list(d, n)
			return
		}
		s := shiftSection.Start
		if shiftSection.Read(d, n, &s) != nil {
			*dst = []Shift{s}
		}
	}
}

// checkShift checks that what is to be low is known.
func (s *Scenario) checkShift(o *strict.Object) {
	if len(s.Shift) == 0 || !o.IsClean("shift", "energy", "capacity") {
		return
	}
	for i := range s.Shift {
		r := &s.Shift[i]
		switch {
		case r.By != "price" && (s.Energy == nil || !s.Energy.hasIntensity()):
			o.FaultName("shift", "shift by %s needs the carbon of a kilowatt-hour: give energy with intensity", r.By)
		case r.By == "both" && s.Energy.Energy.CarbonPrice == 0:
			o.FaultName("shift", "shift by both needs a carbon_price in energy: what a tonne costs")
		case r.By != "carbon" && !slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return !c.Kind.Committed() && c.Price.Known }):
			o.FaultName("shift", "shift by %s needs a pool that is paid while held, with a price", r.By)
		default:
			continue
		}
		return
	}
}

// hasIntensity reports whether the carbon of a kilowatt-hour is stated.
func (e *Energy) hasIntensity() bool {
	return e.File != "" || e.Energy.Intensity.Flat > 0 || len(e.Zones) > 0
}

// loadEnergy returns the carbon of the places where starts are put off for it; else nil.
func (s *Scenario) loadEnergy(open func(string) ([]byte, error)) (*billing.Energy, error) {
	if len(s.Shift) == 0 || s.Energy == nil {
		return nil, nil
	}
	return s.Energy.Load(open)
}

// delayer returns what puts off starts; nil without rules. A Delayer belongs to one run.
func (s *Scenario) delayer(files *files, pools []simulate.Pool) (simulate.Delayer, error) {
	if len(s.Shift) == 0 {
		return nil, nil
	}
	if s.Kueue != nil {
		return nil, fmt.Errorf("shift: Kueue decides when jobs start")
	}
	signals := map[string][]*shift.Signal{}
	var rules []shift.Rule
	rates := s.rates(files)
	for i := range s.Shift {
		r := &s.Shift[i]
		policy, err := shift.Policies.Get(r.Policy)
		if err != nil {
			return nil, err
		}
		if signals[r.By] == nil {
			for p := range pools {
				signals[r.By] = append(signals[r.By], signalOf(r.By, &pools[p], &rates[p], files.energy))
			}
		}
		rules = append(rules, shift.Rule{
			Classes: r.Classes, Tenants: r.Tenants, Partitions: r.Partitions, MaxRun: r.MaxRun, Most: r.Most, Policy: policy, Step: r.Step,
			Length: r.Length, Exact: r.Exact, CommittedFirst: r.CommittedFirst, Signals: signals[r.By],
		})
	}
	return shift.NewDelayer(rules), nil
}

// signalOf returns what a GPU of a pool costs over time, by the hour: milligrams of CO2e, or millionths of
// a dollar. By price, committed capacity has none, for it is paid in any case.
func signalOf(by string, pool *simulate.Pool, rate *billing.Rate, energy *billing.Energy) *shift.Signal {
	if by == "price" && pool.Terms.Committed() {
		return nil
	}
	var grid *billing.Intensity
	if by != "price" {
		grid = energy.IntensityOfPlace(pool.Place.String())
	}
	return shift.ReadSignal(func(at capcli.Time) (int64, capcli.Time, bool) {
		const hour = capcli.Time(capcli.Hour)
		value := capcli.USD(0)
		if by != "carbon" && !pool.Terms.Committed() {
			value = rate.At(at).Price
		}
		if grid == nil {
			return int64(value), at + hour, true
		}
		g, _, known := grid.At(at)
		carbon, cost, err := energy.CarbonOf(pool.GPUModel, g)
		if by == "carbon" {
			return int64(carbon), at + hour, known && err == nil
		}
		return int64(value + cost), at + hour, known && err == nil
	})
}

// pricesDecide reports whether prices decide when or where jobs run, so that other prices give another
// schedule.
func (s *Scenario) pricesDecide() bool {
	return s.byCost() || s.spendsMoney() || slices.ContainsFunc(s.Shift, func(r Shift) bool { return r.By != "carbon" })
}

// EnergyZone is the carbon of a kilowatt-hour in a place.
type EnergyZone struct {
	Place     string
	Zone      string // of the file
	Intensity billing.Carbon
}

var energyZoneSection = strict.Section[EnergyZone]{Name: "energy.zones", Needs: []string{"place"}, Fields: func(z *EnergyZone) []strict.Field {
	return []strict.Field{
		{"place", "provider/region or a part of it", place(&z.Place)},
		{"zone", "grid zone of the file of intensity", strict.Name(&z.Zone)},
		{"intensity", "or grams of CO2e for a kilowatt-hour", measure((*int64)(&z.Intensity), 1000, 0, 100_000)},
	}
}, Check: func(o *strict.Object, z *EnergyZone) {
	if o.Has("zone") == o.Has("intensity") {
		o.Fault("place", "want zone or intensity, one of them")
	}
}}

func (e *Energy) loadZones(text []byte) ([]billing.PlaceIntensity, error) {
	var out []billing.PlaceIntensity
	for _, z := range e.Zones {
		p := billing.PlaceIntensity{Place: z.Place, Intensity: billing.Intensity{Flat: z.Intensity}}
		if z.Zone != "" {
			samples, err := billing.ReadSeries(e.File, strings.NewReader(string(text)), z.Zone)
			if err != nil {
				return nil, err
			}
			if p.Intensity, err = billing.IntensityOf(samples); err != nil {
				return nil, &capcli.InputError{File: e.File, Text: err.Error()}
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// Text says what a rule of shifting does, for people.
func (r *Shift) Text() string {
	who := "all jobs"
	if all := slices.Concat(r.Classes, r.Tenants, r.Partitions); len(all) > 0 {
		who = strings.Join(all, ", ")
	}
	if r.MaxRun > 0 {
		who += fmt.Sprintf(" up to %s", r.MaxRun)
	}
	return fmt.Sprintf("%s by %s, at most %s (%s)", who, r.By, r.Most, r.Policy)
}
