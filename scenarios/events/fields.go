package events

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast/holidays"
	"capcli/forecast/roadmap"
	"capcli/scenarios/strict"
)

// Limits of a file of events.
const (
	maxEvents    = 1000
	maxDays      = 1000 // of one holiday
	mostUnits    = 1e9  // GPUs, or whatever the series counts
	mostScale    = 1e24 // parameters, tokens
	mostPeople   = 10_000_000
	mostGPUs     = 1_000_000 // of a campaign
	firstYear    = 1970
	lastYear     = 2199
	mostCoverage = 31 // days before and after a holiday
	maxSentence  = 1000
)

var kinds = []string{"step", "pulse", "ramp", "campaign", "team", "holiday"}

func topFields(out *roadmap.Plan) []strict.Field {
	return []strict.Field{
		{"capcli", "the form of this file: " + version, strict.Version},
		{"timezone", "zone of days and times that state none: Europe/Berlin; default: --tz of the call, else UTC", checkZone},
		{"events", "what is known of the demand to come", readEntries(&out.List)},
	}
}

// planning is an event being read.
type planning struct {
	roadmap.Entry
	people    string
	perPerson float64
	low, high float64
	share     float64
	zeroRoom  bool // whether the buffer is given as 0
	day       bool // whether the end is given as a day
}

func newPlanning(kind string) *planning {
	p := &planning{Entry: roadmap.Entry{Kind: kind, Event: roadmap.Event{Start: capcli.NoTime, End: capcli.NoTime}}}
	switch kind {
	case "campaign":
		p.Campaign = &roadmap.Campaign{}
	case "holiday":
		p.Holiday = &holidays.Rule{}
	}
	return p
}

// fields returns the fields of the event's kind.
func (p *planning) fields() []strict.Field {
	out := []strict.Field{
		{"name", "what it is called", strict.Name(&p.Name)},
		{"kind", strings.Join(kinds, ", "), strict.Choice(&p.Kind, "kind of event", kinds...)},
		{"series", "unique_id of the series that it changes, or a list, or all; may be left out where there is one", p.readSeries},
	}
	if p.Kind == "holiday" {
		return append(out, p.holidayFields()...)
	}
	e := &p.Event
	out = append(out,
		strict.Field{"from", "first day or instant: 2027-01-15 or 2027-01-15T08:00:00Z", p.readStart},
		strict.Field{"probability", "that it happens at all, 0 to 1 or 70%; default: sure", readRatio(&e.Chance, 1e-6, 1)},
		strict.Field{"late", "by how much it slips on average, 14d; default: on time", strict.Duration(&e.Delay, 0)},
	)
	out = append(out, askFields(&p.Ask)...)
	switch p.Kind {
	case "campaign":
		return append(out, p.campaignFields()...)
	case "team":
		return append(out,
			strict.Field{"to", "day on which the last has come", p.readEnd},
			strict.Field{"people", "from how many to how many: 6 to 14", strict.Text(&p.people, strict.MaxName)},
			strict.Field{"gpus_per_person", "what one uses on average", strict.Number(&p.perPerson, 0, mostUnits)},
			strict.Field{"sd", "standard deviation of that between people; default: none", strict.Number(&e.SizeSD, 0, mostUnits)},
		)
	}
	return append(out,
		strict.Field{"to", "last day; of a step where it ends again, of a ramp where it is at its full size", p.readEnd},
		strict.Field{"gpus", "GPUs more than without it; under 0 they are taken away", strict.Number(&e.Size, -mostUnits, mostUnits)},
		strict.Field{"share", "instead of gpus, a share of the forecast: 20% is a fifth more, -0.3 a third less", readRatio(&p.share, -1, 1000)},
		strict.Field{"low", "with high, the range that holds 80%; default: gpus is its middle", strict.Number(&p.low, -mostUnits, mostUnits)},
		strict.Field{"high", "the upper end of that range", strict.Number(&p.high, -mostUnits, mostUnits)},
		strict.Field{"sd", "instead of low and high, the standard deviation, in the unit of gpus or share", readRatio(&e.SizeSD, 0, mostUnits)},
	)
}

// askFields are the fields that say of an event what a team asks capacity for.
func askFields(a *roadmap.Ask) []strict.Field {
	return []strict.Field{
		{"team", "who asks for it", strict.Name(&a.Team)},
		{"asked_by", "the person who answers for it", strict.Name(&a.AskedBy)},
		{"reason", "what it is for, in a sentence", strict.Text(&a.Reason, maxSentence)},
		{"without", "what happens without it, in a sentence", strict.Text(&a.Without, maxSentence)},
		{"value", "dollars that it is worth if it happens: 500k; under a budget the least goes first", readUSD(&a.Value)},
	}
}

func (p *planning) holidayFields() []strict.Field {
	h := p.Holiday
	return []strict.Field{
		{"dates", "12-25 (every year), 2027-02-06 (once), easter, easter-2; or a list of them", p.readDates},
		{"before", "days before it that are unusual too", strict.Integer(&h.Before, 0, mostCoverage)},
		{"after", "days after it that are unusual too", strict.Integer(&h.After, 0, mostCoverage)},
		{"gpus", "GPUs more on such a day; under 0 fewer. Where gpus and share are left out, the history is asked", strict.Number(&p.Event.Size, -mostUnits, mostUnits)},
		{"share", "instead of gpus, a share of the forecast: -40%", readRatio(&p.share, -1, 1000)},
		{"sd", "standard deviation of a declared gpus or share", readRatio(&p.Event.SizeSD, 0, mostUnits)},
	}
}

func readEntries(dst *[]roadmap.Entry) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.Fault(n, "events is empty; give at least one event")
		}
		taken := map[string]int{}
		d.ReadList(n, maxEvents, "events", func(_ int, n *yaml.Node) {
			p := readPlanned(d, n)
			if p == nil {
				return
			}
			if line, twice := taken[p.Name]; twice {
				d.Fault(n, "the event %s is there twice, first in line %d; the output goes by the name", capcli.Quoted(p.Name), line)
			}
			taken[p.Name] = n.Line
			*dst = append(*dst, p.Entry)
		})
	}
}

// readPlanned reads one event; nil if its kind is unknown or it has no name.
func readPlanned(d *strict.Decoder, n *yaml.Node) *planning {
	if d.AcceptsForms(n, "kind", kinds, func(kind string) []strict.Field { return newPlanning(kind).fields() }, "name") {
		return nil
	}
	kind := strict.Child(n, "kind")
	switch {
	case n.Kind != yaml.MappingNode:
		d.FaultWant(n, "fields such as name and kind")
		return nil
	case kind == nil:
		hint := ""
		if key := nearKey(n, "kind"); key != "" {
			hint = "; " + capcli.Quoted(key) + " is none"
		}
		d.Fault(n, "kind is missing%s: %s", hint, strings.Join(kinds, ", "))
		return nil
	case !slices.Contains(kinds, kind.Value):
		d.Enter("kind")
		var any string
		strict.Choice(&any, "kind of event", kinds...)(d, kind)
		d.Leave()
		return nil
	}
	p := newPlanning(kind.Value)
	p.Line = n.Line
	d.Elsewhere = fieldsOfOtherKinds(p.Kind)
	o := d.ReadObject(n, "a "+p.Kind, p.fields())
	d.Elsewhere = nil
	if !o.Has("name") {
		o.FaultMissing("name", "an event needs a name: the output goes by it")
	}
	p.check(o)
	if p.Name == "" {
		return nil
	}
	return p
}

// nearKey returns a key of n that is similar to name; "" if there is none.
func nearKey(n *yaml.Node, name string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; capcli.Nearest(key, []string{name}) != "" {
			return key
		}
	}
	return ""
}

// fieldsOfOtherKinds returns, for each field that only other kinds of event have, such a kind.
func fieldsOfOtherKinds(kind string) map[string]string {
	out := map[string]string{}
	for _, k := range kinds {
		if k == kind {
			continue
		}
		for _, f := range newPlanning(k).fields() {
			if _, ok := out[f.Name]; !ok {
				out[f.Name] = "a " + k
			}
		}
	}
	return out
}

// checkZone checks the time zone, which readEvents has already applied.
func checkZone(d *strict.Decoder, n *yaml.Node) {
	s, ok := d.ReadScalar(n, "a time zone such as Europe/Berlin")
	if !ok {
		return
	}
	if _, err := time.LoadLocation(s); err != nil || s == "" || strings.EqualFold(s, "local") {
		d.Fault(n, "unknown time zone %s; write UTC or Europe/Berlin", capcli.Quoted(s))
	}
}

// readSeries reads a name, a list of names or all.
func (p *planning) readSeries(d *strict.Decoder, n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		strict.Names(&p.Series, "names of series")(d, n)
		if len(n.Content) == 0 {
			d.Fault(n, "series is empty; name one, or leave the field out")
		}
		return
	}
	var s string
	switch strict.Name(&s)(d, n); s {
	case "":
	case "all":
		p.All = true
	default:
		p.Series = []string{s}
	}
}

func (p *planning) readStart(d *strict.Decoder, n *yaml.Node) {
	if at, _, ok := readMoment(d, n); ok {
		p.Event.Start = at
	}
}

func (p *planning) readEnd(d *strict.Decoder, n *yaml.Node) {
	if at, day, ok := readMoment(d, n); ok {
		p.Event.End, p.day = at, day
	}
}

// readMoment reads a day or an instant. A day in the field to counts to its end.
func readMoment(d *strict.Decoder, n *yaml.Node) (at capcli.Time, day, ok bool) {
	s, ok := d.ReadScalar(n, "a date such as 2027-01-31")
	if !ok {
		return 0, false, false
	}
	zone := zoneOf(d)
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		t, err := time.ParseInLocation(layout, s, zone)
		if err != nil || t.Year() < firstYear || t.Year() > lastYear {
			continue
		}
		if day = layout == time.DateOnly; day && d.FieldName() == "to" {
			t = t.AddDate(0, 0, 1)
		}
		return capcli.TimeOf(t), day, true
	}
	d.Fault(n, "%s is no date from %d to %d; write 2027-01-31 or 2027-01-31T08:00:00Z", capcli.Quoted(s), firstYear, lastYear)
	return 0, false, false
}

var dayForm = regexp.MustCompile(`^(?:(\d{4})-)?(\d{1,2})-(\d{1,2})$|^easter(?: *([+-]) *(\d{1,3}))?$`)

// readDates reads one day or a list of them.
func (p *planning) readDates(d *strict.Decoder, n *yaml.Node) {
	p.Holiday.Zone = zoneOf(d)
	if n.Kind != yaml.SequenceNode {
		p.readDay(d, n)
		return
	}
	if len(n.Content) == 0 {
		d.Fault(n, "dates is empty; give at least one, such as 12-25")
	}
	d.ReadList(n, maxDays, "days", func(_ int, n *yaml.Node) { p.readDay(d, n) })
}

func (p *planning) readDay(d *strict.Decoder, n *yaml.Node) {
	s, ok := d.ReadScalar(n, "a day such as 12-25 or 2027-02-06")
	if !ok {
		return
	}
	m := dayForm.FindStringSubmatch(s)
	if m == nil {
		d.Fault(n, "%s is no day; write 12-25 for every year, 2027-02-06 for one, easter or easter-2", capcli.Quoted(s))
		return
	}
	if m[2] == "" {
		offset, _ := strconv.Atoi(m[4] + m[5]) // the pattern allows digits only; "" is 0
		p.Holiday.Days = append(p.Holiday.Days, holidays.RuleDay{Easter: true, Offset: offset})
		return
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	in := year
	if year == 0 {
		in = 2000 // a leap year
	}
	t := time.Date(in, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if int(t.Month()) != month || t.Day() != day || m[1] != "" && (year < firstYear || year > lastYear) {
		d.Fault(n, "%s is a day that does not exist; write month-day, or year-month-day from %d to %d", capcli.Quoted(s), firstYear, lastYear)
		return
	}
	p.Holiday.Days = append(p.Holiday.Days, holidays.RuleDay{Date: holidays.Date{Year: year, Month: time.Month(month), Day: day}})
}

// Shape describes a file of events.
func Shape() strict.Shape {
	return strict.Describe(&form, nil, func(d *strict.Decoder, n *yaml.Node) { readEvents(d, n, &roadmap.Plan{}) })
}
