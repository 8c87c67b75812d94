package events

import (
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/forecast/holidays"
	"capcli/forecast/roadmap"
	"capcli/scenarios/strict"
)

const oneStep = "capcli: events/v1\nevents:\n  - {name: a, kind: step, from: 2027-01-15, gpus: 64}\n"

func TestEventsTemplateIsValidAndSaysEveryField(t *testing.T) {
	if _, err := Parse("template.yaml", []byte(Template(false)), nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range everyKind() {
		for _, f := range s.fields {
			if !regexp.MustCompile(`\b` + f.Name + `\b`).MatchString(Template(false)) {
				t.Errorf("the template does not say %s of %s", f.Name, s.name)
			}
			if f.Doc == "" {
				t.Errorf("%s.%s has no line about it", s.name, f.Name)
			}
		}
	}
	// Each optional field by itself: still right, or in another's place.
	lines := strings.Split(Template(false), "\n")
	tried := 0
	for i, l := range lines {
		if !regexp.MustCompile(`^ +#[a-z_]+:`).MatchString(l) {
			continue
		}
		changed := slices.Clone(lines)
		changed[i] = strings.Replace(l, "#", "", 1)
		tried++
		if _, err := Parse("template.yaml", []byte(strings.Join(changed, "\n")), nil, nil); err != nil && !strings.Contains(err.Error(), "leave one out") {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if tried < 7 {
		t.Errorf("tried %d fields, want all", tried)
	}
}

func timeOn(t *testing.T, zone string, y int, m time.Month, d, h int) capcli.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Skip("no time zones here")
	}
	return capcli.TimeOf(time.Date(y, m, d, h, 0, 0, 0, loc))
}

func TestEventsAreRead(t *testing.T) {
	const text = `
capcli: events/v1
events:
  - {name: launch, kind: step, from: 2027-03-28, gpus: 60, low: 40, high: 90, probability: 80%, late: 10d, series: [h100, a100]}
  - {name: test, kind: pulse, from: 2027-02-01, to: 2027-02-01, share: 25%, sd: 5%, series: all}
  - {name: noon, kind: ramp, from: 2027-02-01T12:00:00Z, to: 2027-02-03 12:00, low: -30, high: -10}
  - {name: team, kind: team, from: 2027-01-01, to: 2027-06-30, people: 6 to 15, gpus_per_person: 2.5, sd: 2}
  - {name: days, kind: holiday, dates: [12-25, 2027-02-06, easter-2, 02-29], before: 1, share: -40%}
timezone: Europe/Berlin
`
	got, err := Parse("e.yaml", []byte(text), time.UTC, nil)
	if err != nil {
		t.Fatal(err)
	}
	const berlin = "Europe/Berlin"
	want := []roadmap.Event{
		{Name: "launch", Shape: roadmap.Step, Start: timeOn(t, berlin, 2027, 3, 28, 0), End: capcli.NoTime, Size: 60, SizeSD: 25 / 1.2815515655446004, Chance: 0.8, Delay: 10 * capcli.Day},
		{Name: "test", Shape: roadmap.Pulse, Start: timeOn(t, berlin, 2027, 2, 1, 0), End: timeOn(t, berlin, 2027, 2, 2, 0), Size: 0.25, SizeSD: 0.05, Relative: true},
		{Name: "noon", Shape: roadmap.Ramp, Start: timeOn(t, "UTC", 2027, 2, 1, 12), End: timeOn(t, berlin, 2027, 2, 3, 12), Size: -20, SizeSD: 10 / 1.2815515655446004},
		{Name: "team", Shape: roadmap.Ramp, Start: timeOn(t, berlin, 2027, 1, 1, 0), End: timeOn(t, berlin, 2027, 7, 1, 0), Size: 22.5, SizeSD: 6},
	}
	for i, w := range want {
		if !reflect.DeepEqual(got.List[i].Event, w) {
			t.Errorf("%s: %+v, want %+v", w.Name, got.List[i].Event, w)
		}
	}
	if p := got.List[0]; !slices.Equal(p.Series, []string{"h100", "a100"}) || p.All || p.Line != 4 {
		t.Errorf("launch: %+v", p)
	}
	if !got.List[1].All {
		t.Error("test changes not all series")
	}
	h := got.List[4].Holiday
	if !h.Declared || got.List[4].Event.Size != -0.4 || h.Zone.String() != berlin {
		t.Errorf("days: %+v %+v", got.List[4].Event, h)
	}
	// Easter was on 16 April 2028 and 1 April 2029; 2028 had a 29 February.
	days := h.Dates(2028, 2029)
	if want := []holidays.Date{{Year: 2028, Month: 12, Day: 25}, {Year: 2029, Month: 12, Day: 25}, {Year: 2027, Month: 2, Day: 6}, {Year: 2028, Month: 4, Day: 14}, {Year: 2029, Month: 3, Day: 30}, {Year: 2028, Month: 2, Day: 29}}; !slices.Equal(days, want) {
		t.Errorf("days %v, want %v", days, want)
	}
}

// TestCampaignByHand holds the reader's GPU-hours against arithmetic done by
// hand. 13e9 parameters and 2e12 tokens take 6 x 13e9 x 2e12 = 1.56e23
// operations; a GPU of 989e12 at 40 % does 3.956e14 a second, so the work is
// 1.56e23 / 3.956e14 / 3600 = 109,538.25 GPU-hours, and with a fifth more
// 131,445.91: 256.73 hours of 512 GPUs.
func TestCampaignByHand(t *testing.T) {
	got, err := Parse("e.yaml", []byte("capcli: events/v1\nevents:\n  - {name: a, kind: campaign, from: 2027-03-01, gpus: 512, parameters: 13B, tokens: 2e12, peak_flops: 989T, mfu: 40%}\n"+
		"  - {name: none, kind: campaign, from: 2027-03-01, gpus: 512, parameters: 13B, tokens: 2T, peak_flops: 989T, mfu: 0.4, buffer: 0}\n"+
		"  - {name: past, kind: campaign, from: 2027-03-01, gpus: 100, parameters: 14B, tokens: 3T, past: {parameters: 7B, tokens: 1T, gpu_hours: 1000, gpus: 50}, buffer: 25%, runs: 2}\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ hours, flops float64 }{{131445.91, 1.56e23}, {109538.25, 1.56e23}, {1000 * 2 * 3 * 2 * 1.25, 6 * 14e9 * 3e12}} {
		c := got.List[i].Cost
		if math.Abs(c.GPUHours-want.hours) > 0.01 || math.Abs(c.FLOPs/want.flops-1) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", got.List[i].Name, c, want)
		}
	}
	e := got.List[0].Event
	if length := float64(e.End-e.Start) / 3600; e.Size != 512 || math.Abs(length-131445.91/512) > 0.001 {
		t.Errorf("%v GPUs for %v hours", e.Size, length)
	}
}

func TestEventsSayWhatIsWrong(t *testing.T) {
	event := func(fields string) string { return "capcli: events/v1\nevents:\n  - {" + fields + "}\n" }
	for _, row := range []struct{ name, text, want string }{
		{"empty", "", "e.yaml  the file is empty; a file of events begins with capcli: events/v1"},
		{"a scenario", "capcli: scenario/v1\nevents: []\n", `e.yaml:1:9  this is capcli "scenario/v1"; here the program reads events/v1`},
		{"not one", "a: 1\n", "e.yaml:1:1  this is no file of events: it begins with capcli: events/v1"},
		{"no version", "events:\n  - {name: a, kind: step, from: 2027-01-15, gpus: 64}\n", "the line capcli: events/v1 is missing"},
		{"no events", "capcli: events/v1\n", "events is missing; give at least one"},
		{"none", "capcli: events/v1\nevents: []\n", "e.yaml:2:9  events is empty"},
		{"zone", oneStep + "timezone: Mars/Base\n", `e.yaml:4:11  unknown time zone "Mars/Base"`},
		{"slip", event("name: a, kind: step, form: 2027-01-15, gpus: 64"), `e.yaml:3:27  unknown field "form"; did you mean "from"?`},
		{"of another kind", event("name: a, kind: step, from: 2027-01-15, gpus: 64, mfu: 0.4"), `unknown field "mfu"; it is one of a campaign, and this is a step`},
		{"kind", event("name: a, kind: stepp, from: 2027-01-15, gpus: 64"), `unknown kind of event "stepp": have step, pulse, ramp, campaign, team, holiday; did you mean "step"?`},
		{"no kind", event("name: a, knd: step"), `kind is missing; "knd" is none: step, pulse`},
		{"no name", event("kind: step, from: 2027-01-15, gpus: 64"), "an event needs a name"},
		{"twice", oneStep + "  - {name: a, kind: step, from: 2027-01-15, gpus: 64}\n", `the event "a" is there twice, first in line 3`},
		{"no size", event("name: a, kind: step, from: 2027-01-15"), "step needs gpus, how many more there will be"},
		{"no start", event("name: a, kind: step, gpus: 1"), "step needs from, the day on which it begins"},
		{"no end", event("name: a, kind: ramp, from: 2027-01-15, gpus: 1"), "a ramp needs to, its last day"},
		{"ends first", event("name: a, kind: pulse, from: 2027-01-15, to: 2027-01-14, gpus: 1"), "e.yaml:3:50  pulse ends 2027-01-14, before it starts 2027-01-15"},
		{"date", event("name: a, kind: step, from: 15.1.2027, gpus: 1"), `"15.1.2027" is no date from 1970 to 2199; write 2027-01-31`},
		{"no such day", event("name: a, kind: step, from: 2027-02-30, gpus: 1"), `"2027-02-30" is no date`},
		{"both", event("name: a, kind: step, from: 2027-01-15, gpus: 1, share: 0.2"), "share and gpus both say how much; leave one out"},
		{"half a range", event("name: a, kind: step, from: 2027-01-15, gpus: 1, low: 0.2"), "low goes with high"},
		{"range the wrong way", event("name: a, kind: step, from: 2027-01-15, low: 3, high: 2"), "high is 2, under low, which is 3"},
		{"outside", event("name: a, kind: step, from: 2027-01-15, gpus: 9, low: 1, high: 2"), "gpus is 9, outside of low to high, 1 to 2"},
		{"sd in percent", event("name: a, kind: step, from: 2027-01-15, gpus: 9, sd: 10%"), "sd is in GPUs as gpus is; write a number, not a percentage"},
		{"chance", event("name: a, kind: step, from: 2027-01-15, gpus: 9, probability: 120%"), `probability is "120%"; want 1e-06 to 1`},
		{"mfu", event("name: a, kind: campaign, from: 2027-01-15, gpus: 9, parameters: 1B, tokens: 1T, peak_flops: 1T, mfu: 40"), `mfu is "40"; want 1e-06 to 1`},
		{"no speed", event("name: a, kind: campaign, from: 2027-01-15, gpus: 9, parameters: 1B, tokens: 1T"), "a campaign needs peak_flops or gpu_model, and mfu"},
		{"two speeds", event("name: a, kind: campaign, from: 2027-01-15, gpus: 9, parameters: 1B, tokens: 1T, mfu: 0.4, past: {parameters: 1, tokens: 1, gpu_hours: 1, gpus: 1}"), "mfu and past both say how fast a GPU is"},
		{"half a past", event("name: a, kind: campaign, from: 2027-01-15, gpus: 9, parameters: 1B, tokens: 1T, past: {parameters: 1, tokens: 1, gpus: 1}"), "past needs gpu_hours: that it took"},
		{"ages", event("name: a, kind: campaign, from: 2027-01-15, gpus: 1, parameters: 1e20, tokens: 1e20, peak_flops: 1, mfu: 0.1"), "give it more gpus"},
		{"people", event("name: a, kind: team, from: 2027-01-15, to: 2027-02-15, people: 6-14, gpus_per_person: 1"), "people: want from how many to how many, such as 6 to 14"},
		{"no dates", event("name: a, kind: holiday"), "a holiday needs dates"},
		{"no day", event("name: a, kind: holiday, dates: [13-01]"), `"13-01" is a day that does not exist`},
		{"words", event("name: a, kind: holiday, dates: christmas"), `"christmas" is no day; write 12-25`},
		{"sd of nothing", event("name: a, kind: holiday, dates: 12-25, sd: 1"), "sd is of a declared gpus or share"},
		{"comma", event("name: a, kind: step, from: 2027-01-15, gpus: 3,5"), "YAML ends the value at the comma; write 3.5"},
	} {
		_, err := Parse("e.yaml", []byte(row.text), nil, nil)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v\nwant %s", row.name, err, row.want)
			continue
		}
		var in *capcli.InputError
		if !errors.As(err, &in) || in.File != "e.yaml" {
			t.Errorf("%s: not bad input: %v", row.name, err)
		}
	}
}

// FuzzEvents: whatever the bytes, either faults that point into the file, or
// events that a forecast can take.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(Template(false)))
	f.Add([]byte(oneStep))
	f.Add([]byte("capcli: events/v1\nevents: [{name: x, kind: holiday, dates: [easter-999, 02-29], share: -1}]\ntimezone: local"))
	f.Add([]byte("events: [{kind: campaign, gpus: 1, parameters: 1e24, tokens: 1P, mfu: 1e-6%}, {kind: [a]}, 3, null]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse("fuzz.yaml", b, nil, nil)
		if err != nil {
			faults, ok := errors.AsType[*strict.Faults](err)
			if !ok || len(faults.List) == 0 || faults.Error() == "" {
				t.Fatalf("got %v, want faults", err)
			}
			return
		}
		if len(got.List) == 0 {
			t.Error("no event, and no fault")
		}
		for _, p := range got.List {
			if p.Kind == "holiday" {
				if c := p.Calendar(2026, 2027); len(p.Holiday.Days) == 0 || len(c.Holidays[0].Dates) > 0 && c.Check() != nil {
					t.Errorf("%+v: %v", p.Holiday, c.Check())
				}
				continue
			}
			if err := p.Event.Check(); err != nil || p.Event.Start < 0 {
				t.Errorf("%+v: %v", p, err)
			}
		}
	})
}

// kindFields are the fields of a kind of event.
type kindFields struct {
	name   string
	fields []strict.Field
}

// everyKind lists every kind of event and its fields.
func everyKind() []kindFields {
	out := []kindFields{{"", topFields(&roadmap.Plan{})}}
	for _, kind := range kinds {
		out = append(out, kindFields{kind, newPlanning(kind).fields()})
	}
	return append(out, kindFields{"past", pastFields(&roadmap.PastRun{})},
		kindFields{"mfu_profile", mfuSection.Fields(&roadmap.Measured{})}, kindFields{"scaling", scalingSection.Fields(&roadmap.Scaling{})},
		kindFields{"delays", lateSection.Fields(&roadmap.Late{})}, kindFields{"success", successSection.Fields(&roadmap.Success{})},
		kindFields{"data", dataSection.Fields(&roadmap.Data{})}, kindFields{"checkpoints", checkpointSection.Fields(&roadmap.Checkpoints{})},
		kindFields{"energy", energySection.Fields(&roadmap.Energy{})}, kindFields{"people", peopleSection.Fields(&roadmap.People{})})
}
