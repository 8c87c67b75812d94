package series

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"capcli"
)

// TestAutumnHour: local stamps of whole days around the hour that clocks show twice are the instants
// that they were made of, in steps of an hour and of half an hour, and of two series row by row.
func TestAutumnHour(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	first := time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC)
	for _, step := range []time.Duration{time.Hour, 30 * time.Minute, 15 * time.Minute} {
		var b strings.Builder
		b.WriteString("unique_id,ds,y\n")
		const n = 96
		for i := range n {
			stamp := first.Add(time.Duration(i) * step).In(zone).Format("2006-01-02 15:04:05")
			_, _ = fmt.Fprintf(&b, "a,%s,%d\nb,%s,%d\n", stamp, i, stamp, 2*i)
		}
		table, err := Read(strings.NewReader(b.String()), Options{Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.Regular(Rules{Zone: zone})
		if err != nil {
			t.Fatal(step, err)
		}
		for k, s := range got {
			if len(s.Values) != n || s.Gaps != 0 || s.Start != capcli.TimeOf(first) {
				t.Fatalf("%s: series %d has %d values from %s, %d gaps", step, k, len(s.Values), s.Start, s.Gaps)
			}
			for i, v := range s.Values {
				if v != float64(i*(k+1)) {
					t.Fatalf("%s: series %d, value %d is %g", step, k, i, v)
				}
			}
		}
	}
	// Out of that hour a stamp that is there twice is a duplicate still, and so is one without a zone.
	for text, in := range map[string]*time.Location{"2026-10-25 01:00:00": zone, "2026-10-25 02:00:00": nil} {
		table, err := Read(strings.NewReader("ds,y\n"+text+",1\n"+text+",2\n2026-10-26 02:00:00,3\n"), Options{Zone: in})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Regular(Rules{Zone: in}); err == nil || !strings.Contains(err.Error(), "duplicate") {
			t.Errorf("%s twice: %v", text, err)
		}
	}
}

// TestStepChanges: hours followed by days are refused with the line of the first day, and joined where
// a step of a day is asked for; gaps of all kinds are gaps still.
func TestStepChanges(t *testing.T) {
	at := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	var b strings.Builder
	b.WriteString("ds,y\n")
	row := func(step time.Duration, v int) {
		_, _ = fmt.Fprintf(&b, "%s,%d\n", at.Format(time.RFC3339), v)
		at = at.Add(step)
	}
	for i := range 48 {
		row(time.Hour, i%24)
	}
	for i := range 40 {
		row(24*time.Hour, 100+i)
	}
	regular := func(text string, r Rules) ([]Regular, error) {
		table, err := Read(strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return table.Regular(r)
	}
	_, err := regular(b.String(), Rules{})
	if wrong := (*capcli.InputError)(nil); !errors.As(err, &wrong) || wrong.Line != 51 || !strings.Contains(wrong.Text, "39 steps in a row are of 1d, others of 1h") {
		t.Errorf("hours, then days: %v", err)
	}
	if _, err = regular(b.String(), Rules{Step: capcli.Step{Seconds: 6 * capcli.Hour}}); err == nil {
		t.Error("days were cut into six hours")
	}
	got, err := regular(b.String(), Rules{Step: capcli.Step{Days: 1}})
	if err != nil || len(got[0].Values) != 42 || got[0].Values[1] != 11.5 || got[0].Values[2] != 100 || got[0].Values[41] != 139 {
		t.Errorf("joined to days: %v, %+v", err, got)
	}
	if got, err = regular(b.String(), Rules{Gaps: Zero}); err != nil || len(got[0].Values) != 48+39*24+1 {
		t.Errorf("gaps that somebody gave a meaning: %v", err)
	}
	// Weekends, a row in two that is missing for a while, and long gaps are no change of the step.
	gaps := "ds,y\n"
	at = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i := range 200 {
		if wd := at.Weekday(); wd != time.Saturday && wd != time.Sunday && (i < 100 || i > 106 || i%2 == 0) && (i < 150 || i > 170) {
			gaps += at.Format("2006-01-02") + ",1\n"
		}
		at = at.AddDate(0, 0, 1)
	}
	if _, err := regular(gaps, Rules{}); err != nil {
		t.Error(err)
	}
}
