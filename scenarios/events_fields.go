package scenarios

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast"
)

// Limits of a file of events.
const (
	maxEvents    = 1000
	maxDays      = 1000 // of one holiday
	mostUnits    = 1e9  // GPUs, or whatever the series counts
	mostScale    = 1e24 // parameters, tokens
	mostPeople   = 10_000_000
	firstYear    = 1970
	lastYear     = 2199
	mostCoverage = 31 // days before and after a holiday
)

var eventKinds = []string{"step", "pulse", "ramp", "campaign", "team", "holiday"}

func eventsFields(out *forecast.PlannedEvents) []field {
	return []field{
		{"capcli", "the form of this file: " + eventsVersion, version1},
		{"timezone", "zone of days and times that state none: Europe/Berlin; --tz of the call where left out, else UTC", timezone},
		{"events", "what is known of the demand to come", planneds(&out.List)},
	}
}

// planning is an event while it is read.
type planning struct {
	forecast.PlannedEvent
	people    string
	perPerson float64
	low, high float64
	share     float64
	zeroRoom  bool // the buffer is given, and is none
	day       bool // the end is a day
}

func newPlanning(kind string) *planning {
	p := &planning{PlannedEvent: forecast.PlannedEvent{Kind: kind, Event: noTime()}}
	switch kind {
	case "campaign":
		p.Campaign = &forecast.Campaign{}
	case "holiday":
		p.Holiday = &forecast.HolidayRule{}
	}
	return p
}

// fields are those of the event's kind.
func (p *planning) fields() []field {
	out := []field{
		{"name", "what it is called", name(&p.Name)},
		{"kind", strings.Join(eventKinds, ", "), choice(&p.Kind, "kind of event", eventKinds...)},
		{"series", "unique_id of the series that it changes, or a list, or all; may be left out where there is one", p.readSeries},
	}
	if p.Kind == "holiday" {
		return append(out, p.holidayFields()...)
	}
	e := &p.Event
	out = append(out,
		field{"from", "first day or instant: 2027-01-15 or 2027-01-15T08:00:00Z", p.start},
		field{"probability", "that it happens at all, 0 to 1 or 70%; sure where left out", ratio(&e.Chance, 1e-6, 1)},
		field{"late", "by how much it slips on average, 14d; on time where left out", duration(&e.Delay, 0)},
	)
	switch p.Kind {
	case "campaign":
		return append(out, p.campaignFields()...)
	case "team":
		return append(out,
			field{"to", "day on which the last has come", p.end},
			field{"people", "from how many to how many: 6 to 14", text(&p.people, maxName)},
			field{"gpus_per_person", "what one uses on average", number(&p.perPerson, 0, mostUnits)},
			field{"sd", "standard deviation of that between people; none where left out", number(&e.SizeSD, 0, mostUnits)},
		)
	}
	return append(out,
		field{"to", "last day; of a step where it ends again, of a ramp where it is at its full size", p.end},
		field{"gpus", "GPUs more than without it; under 0 they are taken away", number(&e.Size, -mostUnits, mostUnits)},
		field{"share", "instead of gpus, a share of the forecast: 20% is a fifth more, -0.3 a third less", ratio(&p.share, -1, 1000)},
		field{"low", "with high, the range that holds 80%; gpus is its middle where left out", number(&p.low, -mostUnits, mostUnits)},
		field{"high", "the upper end of that range", number(&p.high, -mostUnits, mostUnits)},
		field{"sd", "instead of low and high, the standard deviation, in the unit of gpus or share", ratio(&e.SizeSD, 0, mostUnits)},
	)
}

func (p *planning) campaignFields() []field {
	c := p.Campaign
	return []field{
		{"gpus", "GPUs that it holds", whole(&c.GPUs, 1, maxGPUs)},
		{"parameters", "of the model: 70e9 or 70B", large(&c.Parameters)},
		{"tokens", "that it is trained on: 15e12 or 15T", large(&c.Tokens)},
		{"peak_flops", "of one GPU in the format trained in: 989e12 or 989T; not needed with past", large(&c.PeakFLOPS)},
		{"mfu", "share of that which the model's own operations reach: 0.4 or 40%", ratio(&c.MFU, 1e-6, 1)},
		{"past", "instead of peak_flops and mfu, a run that was measured: {parameters: 7B, tokens: 2T, gpu_hours: 184320, gpus: 512}", past(&c.Past)},
		{"parallel", "share of the work that more GPUs speed up (Amdahl); all where left out", ratio(&c.Parallel, 1e-6, 1)},
		{"buffer", "share added for runs that fail: 15% to 25%; 20% where left out", p.buffer},
		{"runs", "such runs one after another; 1 where left out", whole(&c.Runs, 1, 10_000)},
	}
}

func pastFields(r *forecast.PastRun) []field {
	return []field{
		{"parameters", "of the model", large(&r.Parameters)},
		{"tokens", "that it was trained on", large(&r.Tokens)},
		{"gpu_hours", "that it took", large(&r.GPUHours)},
		{"gpus", "that it held", whole(&r.GPUs, 1, maxGPUs)},
	}
}

func (p *planning) holidayFields() []field {
	h := p.Holiday
	return []field{
		{"dates", "12-25 (every year), 2027-02-06 (once), easter, easter-2; or a list of them", p.dates},
		{"before", "days before it that are unusual too", whole(&h.Before, 0, mostCoverage)},
		{"after", "days after it that are unusual too", whole(&h.After, 0, mostCoverage)},
		{"gpus", "GPUs more on such a day; under 0 fewer. Where gpus and share are left out, the history is asked", number(&p.Event.Size, -mostUnits, mostUnits)},
		{"share", "instead of gpus, a share of the forecast: -40%", ratio(&p.share, -1, 1000)},
		{"sd", "standard deviation of a declared gpus or share", ratio(&p.Event.SizeSD, 0, mostUnits)},
	}
}

// planneds reads the list.
func planneds(dst *[]forecast.PlannedEvent) reader {
	return func(d *decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.at(n, "events is empty; give at least one event")
		}
		taken := map[string]int{}
		d.list(n, maxEvents, "events", func(_ int, n *yaml.Node) {
			p := readPlanned(d, n)
			if p == nil {
				return
			}
			if line, twice := taken[p.Name]; twice {
				d.at(n, "the event %s is there twice, first in line %d; the output goes by the name", show(p.Name), line)
			}
			taken[p.Name] = n.Line
			*dst = append(*dst, p.PlannedEvent)
		})
	}
}

// planned reads one event; nil where its kind or name is not known.
func readPlanned(d *decoder, n *yaml.Node) *planning {
	kind := child(n, "kind")
	switch {
	case n.Kind != yaml.MappingNode:
		d.want(n, "fields such as name and kind")
		return nil
	case kind == nil:
		hint := ""
		if key := nearKey(n, "kind"); key != "" {
			hint = "; " + show(key) + " is none"
		}
		d.at(n, "kind is missing%s: %s", hint, strings.Join(eventKinds, ", "))
		return nil
	case !slices.Contains(eventKinds, kind.Value):
		d.enter("kind")
		var any string
		choice(&any, "kind of event", eventKinds...)(d, kind)
		d.leave()
		return nil
	}
	p := newPlanning(kind.Value)
	p.Line = n.Line
	d.elsewhere = elsewhere(p.Kind)
	o := d.object(n, "a "+p.Kind, p.fields())
	d.elsewhere = nil
	if !o.has("name") {
		o.missing("name", "an event needs a name: the output goes by it")
	}
	p.check(o)
	if p.Name == "" {
		return nil
	}
	return p
}

// nearKey is a key of n that is nearly name.
func nearKey(n *yaml.Node, name string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; capcli.Nearest(key, []string{name}) != "" {
			return key
		}
	}
	return ""
}

// elsewhere gives, for each field that events of another kind have, which.
func elsewhere(kind string) map[string]string {
	out := map[string]string{}
	for _, k := range eventKinds {
		if k == kind {
			continue
		}
		for _, f := range newPlanning(k).fields() {
			if _, ok := out[f.name]; !ok {
				out[f.name] = "a " + k
			}
		}
	}
	return out
}

// timezone checks the zone, which was taken before the rest was read.
func timezone(d *decoder, n *yaml.Node) {
	s, ok := d.scalar(n, "a time zone such as Europe/Berlin")
	if !ok {
		return
	}
	if _, err := time.LoadLocation(s); err != nil || s == "" || strings.EqualFold(s, "local") {
		d.at(n, "unknown time zone %s; write UTC or Europe/Berlin", show(s))
	}
}

// readSeries reads a name, a list of names or all.
func (p *planning) readSeries(d *decoder, n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		words(&p.Series, "names of series")(d, n)
		if len(n.Content) == 0 {
			d.at(n, "series is empty; name one, or leave the field out")
		}
		return
	}
	var s string
	switch name(&s)(d, n); s {
	case "":
	case "all":
		p.All = true
	default:
		p.Series = []string{s}
	}
}

func (p *planning) start(d *decoder, n *yaml.Node) {
	if at, _, ok := moment(d, n); ok {
		p.Event.Start = at
	}
}

func (p *planning) end(d *decoder, n *yaml.Node) {
	if at, day, ok := moment(d, n); ok {
		p.Event.End, p.day = at, day
	}
}

// moment reads a day, which may be the end of something and then counts to its
// last second, or an instant.
func moment(d *decoder, n *yaml.Node) (at capcli.Time, day, ok bool) {
	s, ok := d.scalar(n, "a date such as 2027-01-31")
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
		if day = layout == time.DateOnly; day && d.step() == "to" {
			t = t.AddDate(0, 0, 1)
		}
		return capcli.TimeOf(t), day, true
	}
	d.at(n, "%s is no date from %d to %d; write 2027-01-31 or 2027-01-31T08:00:00Z", show(s), firstYear, lastYear)
	return 0, false, false
}

func (p *planning) buffer(d *decoder, n *yaml.Node) {
	v := -1.0
	ratio(&v, 0, 10)(d, n)
	p.Campaign.Failures, p.zeroRoom = v, v == 0
}

func past(dst **forecast.PastRun) reader {
	return func(d *decoder, n *yaml.Node) {
		r := &forecast.PastRun{}
		o := d.object(n, "past", pastFields(r))
		if o == nil {
			return
		}
		for _, f := range pastFields(r) {
			if !o.has(f.name) {
				o.missing(f.name, "past needs %s: %s", f.name, f.doc)
			}
		}
		*dst = r
	}
}

var dayForm = regexp.MustCompile(`^(?:(\d{4})-)?(\d{1,2})-(\d{1,2})$|^easter(?: *([+-]) *(\d{1,3}))?$`)

// dates reads one day or a list of them.
func (p *planning) dates(d *decoder, n *yaml.Node) {
	p.Holiday.Zone = zoneOf(d)
	if n.Kind != yaml.SequenceNode {
		p.readDay(d, n)
		return
	}
	if len(n.Content) == 0 {
		d.at(n, "dates is empty; give at least one, such as 12-25")
	}
	d.list(n, maxDays, "days", func(_ int, n *yaml.Node) { p.readDay(d, n) })
}

func (p *planning) readDay(d *decoder, n *yaml.Node) {
	s, ok := d.scalar(n, "a day such as 12-25 or 2027-02-06")
	if !ok {
		return
	}
	m := dayForm.FindStringSubmatch(s)
	if m == nil {
		d.at(n, "%s is no day; write 12-25 for every year, 2027-02-06 for one, easter or easter-2", show(s))
		return
	}
	if m[2] == "" {
		offset, _ := strconv.Atoi(m[4] + m[5]) // of digits; "" is none
		p.Holiday.Days = append(p.Holiday.Days, forecast.HolidayDay{Easter: true, Offset: offset})
		return
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	in := year
	if year == 0 {
		in = 2000 // which had a 29 February
	}
	t := time.Date(in, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if int(t.Month()) != month || t.Day() != day || m[1] != "" && (year < firstYear || year > lastYear) {
		d.at(n, "%s is a day that does not exist; write month-day, or year-month-day from %d to %d", show(s), firstYear, lastYear)
		return
	}
	p.Holiday.Days = append(p.Holiday.Days, forecast.HolidayDay{Date: forecast.Date{Year: year, Month: time.Month(month), Day: day}})
}
