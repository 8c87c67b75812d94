package scenarios

import (
	"cmp"
	_ "embed" // the template is a file
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast"
)

// eventsVersion is the first line of every file of events: capcli: events/v1.
const eventsVersion = "events/v1"

// Events are what a person knows of the demand to come, as a file states it,
// checked.
type Events struct {
	File string
	Zone *time.Location // of its days; nil is UTC
	List []Planned      // in the file's order
}

// Planned is one event of the file.
type Planned struct {
	Name   string
	Kind   string   // step, pulse, ramp, campaign, team or holiday
	Line   int      // of the file
	Series []string // the series that it changes; none where the file does not say
	All    bool     // it changes every series
	// Event is what it does to demand; of a holiday it has the declared size alone.
	Event forecast.Event
	// Campaign and Cost are of a campaign.
	Campaign *forecast.Campaign
	Cost     forecast.Cost
	Holiday  *Holiday // of a holiday
}

// Holiday are days on which demand is not as usual.
type Holiday struct {
	Days          []Day
	Before, After int  // days around it that it colours too
	Declared      bool // the file says by how much; else the history is asked
	Zone          *time.Location
}

// Day is a day of one year, of every year, or one that moves with Easter.
type Day struct {
	forecast.Date      // Year 0 is every year
	Easter        bool // the date is Easter Sunday
	Offset        int  // days after it
}

// ParseEvents reads a file of events and checks all of it. Days and times that
// state no zone are of the file's timezone, else of zone; nil is UTC. The error
// is *Faults: everything that is wrong, each with its place.
func ParseEvents(file string, b []byte, zone *time.Location) (*Events, error) {
	d := &decoder{form: &eventsForm, lines: linesOf(b), zone: zone}
	out := &Events{File: file}
	if root := d.readTree(b); root != nil {
		d.events(root, out)
	}
	if len(d.faults) > 0 {
		return nil, d.refusal(cmp.Or(file, "events"), "a template with every field: "+d.form.init)
	}
	return out, nil
}

// events reads the whole file.
func (d *decoder) events(root *yaml.Node, out *Events) {
	if root.Kind != yaml.MappingNode || child(root, "capcli") == nil && child(root, "events") == nil {
		d.at(root, "this is no file of events: it begins with capcli: %s and has a list called events", eventsVersion)
		return
	}
	if n := child(root, "timezone"); n != nil && n.Kind == yaml.ScalarNode {
		if zone, err := time.LoadLocation(n.Value); err == nil && zone != time.Local { // what is wrong is said when it is read
			d.zone = zone
		}
	}
	out.Zone = d.zone
	o := d.object(root, "the top level", eventsFields(out))
	if _, ok := o.entries["capcli"]; !ok {
		o.missing("capcli", "the line capcli: %s is missing; it says which form of file this is", eventsVersion)
	}
	if !o.has("events") {
		o.missing("events", "events is missing; give at least one, such as - {name: launch, kind: step, from: 2027-01-15, gpus: 64}")
	}
}

// Dates are the holiday's days from one year to another, each day in order of
// the file; a day that a year does not have (29 February) is not in it.
func (h *Holiday) Dates(from, to int) []forecast.Date {
	var out []forecast.Date
	add := func(y int, m time.Month, d int) { out = append(out, forecast.Date{Year: y, Month: m, Day: d}) }
	for _, day := range h.Days {
		if day.Year != 0 {
			add(day.Year, day.Month, day.Day)
			continue
		}
		for y := from; y <= to; y++ {
			month, in := day.Month, day.Day
			if day.Easter {
				month, in = easter(y)
			}
			t := time.Date(y, month, in, 0, 0, 0, 0, time.UTC)
			if t.Day() != in {
				continue
			}
			t = t.AddDate(0, 0, day.Offset)
			add(t.Year(), t.Month(), t.Day())
		}
	}
	return out
}

// easter is Easter Sunday in the Gregorian calendar (the anonymous algorithm of
// Nature, 20 April 1876, as in Meeus 1991, "Astronomical Algorithms", ch. 8).
func easter(year int) (time.Month, int) {
	a, b, c := year%19, year/100, year%100
	e := (8*b + 13) / 25
	h := (19*a + b - b/4 - e + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 19*l) / 433
	month := (h + l - 7*m + 90) / 25
	return time.Month(month), (h + l - 7*m + 33*month + 19) % 32
}

//go:embed events.yaml.txt
var eventsText string

// EventsTemplate is a file of events to begin with: it can be used as it is, and
// says every field that there is.
func EventsTemplate() string { return eventsText }

// EventsSchema lists every kind of event and its fields.
func EventsSchema() []Section {
	out := []Section{sectionOf("", eventsFields(&Events{}))}
	for _, kind := range eventKinds {
		p := newPlanning(kind)
		out = append(out, sectionOf(kind, p.fields()))
	}
	return append(out, sectionOf("past", pastFields(&forecast.PastRun{})))
}

func sectionOf(name string, fields []field) Section {
	s := Section{Name: name}
	for _, f := range fields {
		s.Fields = append(s.Fields, Field{f.name, f.doc})
	}
	return s
}

// Calendar is the holiday with its days from one year to another.
func (p *Planned) Calendar(from, to int) forecast.Calendar {
	h := p.Holiday
	return forecast.Calendar{Zone: h.Zone, Holidays: []forecast.Holiday{{Name: p.Name, Dates: h.Dates(from, to), Before: h.Before, After: h.After}}}
}

// noTime is an event that has no dates yet.
func noTime() forecast.Event {
	return forecast.Event{Start: capcli.NoTime, End: capcli.NoTime}
}
