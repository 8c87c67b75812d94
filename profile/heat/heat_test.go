package heat

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/accelerator"
)

// minute is a minute of one device.
type minute struct {
	host    string
	device  *profile.Device
	at      int // minutes since begin
	sm      float64
	holders []string // users of processes
}

var begin = time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC) // the night in which clocks in Berlin go back

// heatmap is the heatmap of minutes, each told by one sample.
func heatmap(t *testing.T, r Request, minutes []minute) *Result {
	t.Helper()
	if r.Rows == 0 {
		r.Rows = 10
	}
	b, err := NewBuilder(r)
	if err != nil {
		t.Fatal(err)
	}
	spans := profile.Spanner{Span: b.Add}
	for i := 0; i < len(minutes); {
		first := minutes[i]
		tick := profile.Tick{At: profile.InstantOf(begin.Add(time.Duration(first.at+1)*time.Minute - time.Second)), Every: time.Minute, LookedAtProcesses: true}
		for ; i < len(minutes) && minutes[i].host == first.host && minutes[i].at == first.at; i++ {
			m := minutes[i]
			s := tick.NextSample(m.device)
			s.Set(profile.SMActive, m.sm)
			s.Set(profile.Power, 100+m.sm)
			for _, u := range m.holders {
				tick.Processes = append(tick.Processes, profile.Process{Device: m.device, Job: "job-" + u, User: u})
			}
		}
		spans.Add(first.host, &tick)
	}
	spans.Flush()
	out, err := b.Result([]string{"made-up"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func gpu(i int) *profile.Device {
	return &profile.Device{Index: i, UUID: fmt.Sprint("GPU-", i), Model: "H100", GI: -1, CI: -1}
}

func text(values []capcli.Figure) string {
	out := ""
	for _, v := range values {
		if math.IsNaN(float64(v)) {
			out += "- "
			continue
		}
		out += fmt.Sprintf("%g ", math.Round(float64(v)*1000)/1000)
	}
	return out
}

// Hours are exact, an hour without samples is a gap, and the row with the most idle hours is the first.
func TestHours(t *testing.T) {
	var all []minute
	a, b := gpu(0), gpu(1)
	for m := range 60 { // hours 0 and 2 of a box that is idle, an hour of one that works
		all = append(all, minute{"idle", a, m, 0, []string{"mei"}})
	}
	for m := range 30 {
		all = append(all, minute{"idle", a, 120 + m, 50, []string{"mei"}})
	}
	for m := range 60 {
		all = append(all, minute{"works", b, m, 80, []string{"ida", "mei"}})
	}
	price := 2 * capcli.Dollar
	for _, c := range []struct {
		by, measure string
		names       string
		values      []string
		total       string
	}{
		{"host", "sm", "idle works ", []string{"0 - 50 ", "80 - - "}, "40 - 50 "},
		{"gpu", "power", "idle 0 works 1 ", []string{"100 - 150 ", "180 - - "}, "140 - 150 "},
		{"host", "held", "idle works ", []string{"100 - 100 ", "100 - - "}, "100 - 100 "},
		{"host", "idle", "idle works ", []string{"1 - 0 ", "0 - - "}, "1 - 0 "},
		{"tenant", "idle-dollars", "mei ida ", []string{"2 - 0 ", "0 - - "}, "2 - 0 "},
		{"job", "sm", "job-mei job-ida ", []string{"26.667 - 50 ", "80 - - "}, "40 - 50 "},
		{"host", "use", "idle works ", []string{"- - - ", "- - - "}, "- - - "},
	} {
		r := heatmap(t, Request{By: c.by, Measure: c.measure, Price: &price}, all)
		names := ""
		for i, row := range r.Rows {
			names += row.Name + " "
			if text(row.Values) != c.values[i] {
				t.Errorf("%s %s, %s: %s, want %s", c.by, c.measure, row.Name, text(row.Values), c.values[i])
			}
		}
		if names != c.names || text(r.Total.Values) != c.total || len(r.Columns) != 3 {
			t.Errorf("%s %s: rows %q, total %s; want %q and %s", c.by, c.measure, names, text(r.Total.Values), c.names, c.total)
		}
		if first := r.Rows[0]; float64(first.Idle) != 1 || *first.Cost != price {
			t.Errorf("%s: %v idle hours for %v, want 1 for %v", first.Name, first.Idle, first.Cost, price)
		}
	}
}

// What is over the most rows is summed up in one, and what all rows say is the total.
func TestRowsAreSummedUp(t *testing.T) {
	var all []minute
	for i := range 20 {
		d := gpu(i)
		for m := range 60 {
			sm := 10.0
			if m < i {
				sm = 0
			}
			all = append(all, minute{fmt.Sprintf("box-%02d", i), d, m, sm, []string{"mei"}})
		}
	}
	r := heatmap(t, Request{By: "host", Measure: "idle", Rows: 3}, all)
	if len(r.Rows) != 4 || r.LeftOut != 17 || r.Rows[0].Name != "box-19" || r.Rows[3].Name != "17 others" || r.Rows[3].Others != 17 {
		t.Fatalf("rows %d, left out %d, first %s, last %s", len(r.Rows), r.LeftOut, r.Rows[0].Name, r.Rows[3].Name)
	}
	sum := 0.0
	for _, row := range r.Rows {
		sum += float64(row.Value)
	}
	if math.Abs(sum-float64(r.Total.Value)) > 1e-9 || math.Abs(sum-190.0/60) > 1e-9 {
		t.Errorf("rows sum to %v, total %v, want %v", sum, r.Total.Value, 190.0/60)
	}
}

// A GPU that is divided counts by its instances, each as its share.
func TestInstancesCountAsTheirShare(t *testing.T) {
	whole, other := gpu(0), gpu(1)
	mig := &profile.Device{Index: 0, UUID: "MIG-a", Parent: whole.UUID, Profile: "3g.40gb", GI: 1, CI: 0}
	var all []minute
	for m := range 60 {
		all = append(all, minute{"box", whole, m, 0, nil}, minute{"box", mig, m, 70, []string{"mei"}}, minute{"box", other, m, 0, []string{"ida"}})
	}
	r := heatmap(t, Request{By: "host", Measure: "held"}, all)
	share := float64(mig.Share()) / accelerator.WholeGPU
	if got, want := float64(r.Rows[0].Value), 100*(1+share)/2; math.Abs(got-want) > 1e-6 || math.Abs(float64(r.Rows[0].Held)-1-share) > 1e-6 || share > 0.5 {
		t.Errorf("%v held of the box, %v hours; want %v and %v", got, r.Rows[0].Held, want, 1+share)
	}
	if r = heatmap(t, Request{By: "gpu", Measure: "sm"}, all); len(r.Rows) != 2 {
		t.Errorf("%d rows, want the instance and the whole GPU", len(r.Rows))
	}
}

// Hours of the week are those of the zone: the hour that comes twice when clocks go back is one of the week.
func TestWeekAndPicture(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var all []minute
	for m := 0; m < 14*24*60; m += 20 {
		if m/1440 != 3 {
			all = append(all, minute{"box", gpu(0), m, float64(m / 1440), nil})
		}
	}
	r := heatmap(t, Request{By: "host", Measure: "sm", Week: true, Zone: zone}, all)
	if len(r.Columns) != 168 || r.Columns[0].From != "Monday 00:00" || math.IsNaN(float64(r.Rows[0].Values[0])) {
		t.Errorf("%d columns from %s: %v", len(r.Columns), r.Columns[0].From, r.Rows[0].Values[0])
	}
	r = heatmap(t, Request{By: "host", Measure: "sm", Zone: zone}, all)
	if len(r.Columns) != 14*24 || r.Columns[0].From != "2026-10-25T00:00:00+02:00" || r.Columns[3].From != "2026-10-25T02:00:00+01:00" {
		t.Errorf("%d columns from %s, the fourth %s", len(r.Columns), r.Columns[0].From, r.Columns[3].From)
	}
	for _, columns := range []int{1000, 200, 60, 14, 2} {
		p := r.Picture(columns)
		sum := 0.0
		for _, v := range p.Rows[0].Values {
			if !math.IsNaN(v) {
				sum += v
			}
		}
		if n := len(p.Names); n > columns || n != len(p.Labels) || n != len(p.Rows[0].Values) || p.Top != 100 {
			t.Errorf("%d columns of %s asked for, got %d with %d labels", columns, p.Hours(), n, len(p.Labels))
		}
	}
	days := r.Picture(20)
	if days.Names[0] != "Sun Oct 25 2026" || !math.IsNaN(days.Rows[0].Values[3]) && days.Rows[0].Values[3] != 2 && days.Rows[0].Values[3] != 4 {
		t.Errorf("days from %s: %v", days.Names[0], days.Rows[0].Values)
	}
}

func TestRefused(t *testing.T) {
	for _, r := range []Request{
		{By: "rack", Measure: "sm", Rows: 1},
		{By: "host", Measure: "heat", Rows: 1},
		{By: "host", Measure: "idle-dollars", Rows: 1},
		{By: "host", Measure: "sm", Rows: 0},
		{By: "host", Measure: "sm", Rows: MostRows + 1},
	} {
		var wrong *capcli.RequestError
		if _, err := NewBuilder(r); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	b, err := NewBuilder(Request{By: "host", Measure: "sm", Rows: 1})
	if err != nil {
		t.Fatal(err)
	}
	var bad *capcli.InputError
	if _, err := b.Result([]string{"empty"}); !errors.As(err, &bad) {
		t.Errorf("no samples: %v", err)
	}
	s := profile.Span{Host: "box", Device: gpu(0), Use: profile.NewUse()}
	b.Add(&s)
	s.Hour = hourMicros * (mostHours + 1)
	b.Add(&s)
	if _, err := b.Result([]string{"long"}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "further apart") {
		t.Errorf("samples a century apart: %v", err)
	}
}
