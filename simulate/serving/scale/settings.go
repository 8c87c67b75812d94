package scale

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
)

// Settings are the settings of a scaler, as scenarios write them. Each scaler declares its own in
// OwnSettings; one that it does not declare is a fault.
type Settings struct {
	Kind     string // a name of the Catalog; "" is none
	Min, Max int    // limits of the number of units

	Values  map[string]float64        // settings by name: numbers, lengths of time in seconds, counts of steps
	Lengths map[string]capcli.Seconds // settings in steps that are stated as a length of time

	Behavior   Behavior       // hpa: how fast it goes up and down
	Foreseen   []float64      // forecast: what is foreseen at the end of each step
	Schedule   []Window       // limits by time of day and week; the first window that holds the time counts
	Zone       *time.Location // of Schedule; nil is UTC
	Budget     *Budget        // nil is none
	Forecaster Forecaster     // for the scalers that foresee; the caller sets it
	Model      string         // of Forecaster, by name, for the caller; "" is the season before
	Start      capcli.Time    // time of the first step, for schedules, where ScaleState has none
	Unit       int64          // demand of one unit of Target: 1 for requests, 1000 for thousandths of GPUs; 0 is 1
}

// Setting is a number that a scaler declares.
type Setting struct {
	Name, Doc string
	Unit      Unit
	Default   float64
	Lo, Hi    float64 // limits of a value
	Required  bool
}

// Unit is the unit of a Setting.
type Unit uint8

// The units.
const (
	Number Unit = iota
	Whole
	Length // seconds
	Steps  // a count of steps, or in Settings.Lengths a length of time
)

// OwnSettings holds the settings of each scaler, by the name of the scaler.
var OwnSettings = capcli.Catalog[[]Setting]{Kind: "scaler"}

// Common are the settings that every scaler has: they limit what the scaler says.
var Common = []Setting{
	{Name: "zero_after", Doc: "no units after so many steps, or such a length of time, without demand", Unit: Steps, Hi: maxSteps},
	{Name: "cooldown", Doc: "time from any change to the next fall", Unit: Length, Hi: maxSeconds},
	{Name: "cooldown_up", Doc: "time from a rise to the next one", Unit: Length, Hi: maxSeconds},
	{Name: "checkpoint", Doc: "units are taken back only at multiples of this time, where their work is saved", Unit: Length, Hi: maxSeconds},
}

const (
	maxSteps   = 1e7
	maxSeconds = 1e9
	maxUnits   = 1_000_000
)

// Percent and Pods are the kinds of a Rate.
const (
	Percent = "Percent"
	Pods    = "Pods"
)

// SettingsOf returns the settings of the scaler called kind: its own, then the common ones.
func SettingsOf(kind string) ([]Setting, error) {
	own, err := OwnSettings.Get(kind)
	if err != nil {
		return nil, err
	}
	return slices.Concat(own, Common), nil
}

// add adds a scaler to the Catalog, with its own settings.
func add(name, doc string, m Maker, own ...Setting) {
	Catalog.Add(name, doc, m)
	OwnSettings.Add(name, doc, own)
}

// values are the values of a scaler's settings.
type values struct {
	*Settings
	all []Setting
}

// number returns the value of a setting, or its default.
func (v *values) number(name string) float64 {
	if x, ok := v.Values[name]; ok {
		return x
	}
	i := slices.IndexFunc(v.all, func(s Setting) bool { return s.Name == name })
	return v.all[i].Default
}

func (v *values) count(name string) int              { return int(v.number(name)) }
func (v *values) seconds(name string) capcli.Seconds { return capcli.Seconds(v.number(name)) }

// steps returns a setting in steps of a length: a length of time is rounded up to whole steps.
func (v *values) steps(name string, length capcli.Seconds) int {
	if t, ok := v.Lengths[name]; ok {
		return int((t + length - 1) / max(1, length))
	}
	return v.count(name)
}

func (s *Settings) demandUnit() float64 { return float64(max(1, s.Unit)) }

func fault(field, format string, args ...any) error {
	return &capcli.RequestError{Field: field, Text: fmt.Sprintf(format, args...)}
}

func (s *Settings) read() (*values, error) {
	all, err := SettingsOf(s.Kind)
	if err != nil {
		return nil, &capcli.RequestError{Field: "kind", Text: ": " + err.Error()}
	}
	v := &values{s, all}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		if err := v.checkNumber(name); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lengths)) {
		if i := v.find(name); i < 0 || all[i].Unit != Steps {
			return nil, v.foreign(name)
		}
	}
	for _, x := range all {
		if _, ok := s.Values[x.Name]; x.Required && !ok && s.Lengths[x.Name] == 0 {
			return nil, fault(x.Name, "is missing: %s", x.Doc)
		}
	}
	return v, v.checkParts()
}

func (v *values) find(name string) int {
	return slices.IndexFunc(v.all, func(s Setting) bool { return s.Name == name })
}

// foreign is the error of a setting that is not one of the scaler's.
func (v *values) foreign(name string) error {
	names := capcli.Map(v.all, func(x Setting) string { return x.Name })
	slices.Sort(names)
	return fault(name, "is no setting of scaler %s; it has min, max, %s", v.Kind, strings.Join(names, ", "))
}

func (v *values) checkNumber(name string) error {
	i := v.find(name)
	if i < 0 {
		return v.foreign(name)
	}
	x, s := v.Values[name], v.all[i]
	format := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case math.IsNaN(x) || x < s.Lo || x > s.Hi:
		return fault(name, "wants %s to %s, found %s", format(s.Lo), format(s.Hi), format(x))
	case s.Unit != Number && x != math.Trunc(x):
		return fault(name, "wants a whole number, found %s", format(x))
	}
	return nil
}

// checkParts checks the limits and the parts that are no numbers.
func (v *values) checkParts() error {
	switch {
	case v.Min < 0 || v.Max < 0 || v.Max > maxUnits:
		return fault("max", "wants 0 to %d units, found min %d and max %d", maxUnits, v.Min, v.Max)
	case v.Kind == "none" && (v.Min > 0 || v.Max > 0):
		return fault("max", "is no setting of scaler none, which keeps the units as they are")
	case v.Kind != "none" && v.Max == 0:
		return fault("max", "is missing: the most units that there may be")
	case v.Kind != "none" && v.Min > v.Max:
		return fault("min", "is %d, above max %d", v.Min, v.Max)
	case v.Kind != "hpa" && !v.Behavior.IsZero():
		return fault("behavior", "is a setting of scaler hpa; this one is %s", v.Kind)
	case v.Kind != "forecast" && v.Foreseen != nil:
		return fault("forecast", "is a setting of scaler forecast; this one is %s", v.Kind)
	}
	if err := checkSchedule(v.Schedule, v.Settings); err != nil {
		return err
	}
	return v.Budget.check()
}

// Declares reports whether the scaler has a setting.
func (s *Settings) Declares(name string) bool {
	all, err := SettingsOf(s.Kind)
	return err == nil && slices.ContainsFunc(all, func(x Setting) bool { return x.Name == name })
}

// ChangeKind returns the settings for another scaler: those that both have stay.
func (s *Settings) ChangeKind(kind string) *Settings {
	out := &Settings{Kind: kind, Values: map[string]float64{}, Lengths: map[string]capcli.Seconds{}, Zone: s.Zone, Budget: s.Budget, Start: s.Start, Unit: s.Unit}
	if kind != "none" {
		out.Min, out.Max = s.Min, s.Max
	}
	for name, x := range s.Values {
		if out.Declares(name) {
			out.Values[name] = x
		}
	}
	for name, x := range s.Lengths {
		if out.Declares(name) {
			out.Lengths[name] = x
		}
	}
	if kind != "scheduled" && s.Kind != "scheduled" {
		out.Schedule = s.Schedule
	}
	return out
}

// Seasons returns the seasons of the series that a scaler foresees, in its values; nil if it foresees none.
func (s *Settings) Seasons() []int {
	if !s.Declares("season") {
		return nil
	}
	v := values{s, nil}
	v.all, _ = SettingsOf(s.Kind)
	if n := int(v.seconds("season") / v.seconds("grain")); n > 1 {
		return []int{n}
	}
	return nil
}
