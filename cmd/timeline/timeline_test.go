package timeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// played returns the timeline of a scenario of the library.
func played(t *testing.T, name string, sets ...string) *outcome.Timeline {
	t.Helper()
	c, err := (&play.Maker{}).Case(t.Context(), &play.Question{Scenario: name, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := play.Play(t.Context(), []*play.Case{c}, play.Request{Timeline: true, Lines: MaxJobs})
	if err != nil {
		t.Fatal(err)
	}
	return runs[0][0].Timeline
}

// TestTablesHaveTheTimeline draws and tabulates every scenario of the library: tables have a row for
// each step, week and hour, with as many cells as columns, and the charts say what the tables hold.
func TestTablesHaveTheTimeline(t *testing.T) {
	for _, name := range scenarios.Names() {
		tl := played(t, name)
		tables := Tables(tl)
		for _, table := range tables {
			for i, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Fatalf("%s: table %s, row %d: %d cells for %d columns", name, table.Name, i, len(row), len(table.Columns))
				}
			}
		}
		weeks := 0
		for i := range tl.Weeks {
			weeks += len(tl.Weeks[i].Tiers)
		}
		if len(tables[0].Rows) != len(tl.Demand) || len(tables[1].Rows) != weeks || len(tables[2].Rows) != 168 {
			t.Errorf("%s: %d steps, %d weeks, %d hours", name, len(tables[0].Rows), len(tables[1].Rows), len(tables[2].Rows))
		}
		peak := int64(0)
		for _, row := range tables[0].Rows {
			peak = max(peak, row[slices.IndexFunc(tables[0].Columns, func(c report.Column) bool { return c.Name == "waiting_jobs_peak" })].(int64))
		}
		want := "Jobs waiting: none at any time"
		if peak > 0 {
			want = "at most " + capcli.Grouped(peak) + ", on "
		}
		if title := Queue(tl, 8).Title; !strings.Contains(title, want) {
			t.Errorf("%s: %q, want %q in it", name, title, want)
		}
		for _, c := range Charts(tl, 12) {
			if text := c.Draw(80); strings.Contains(text, "(no data)") || strings.Contains(text, "NaN") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// TestWeekNamesTheBusiestHour holds the sentence of the heat map against its cells.
func TestWeekNamesTheBusiestHour(t *testing.T) {
	tl := &outcome.Timeline{Zone: "UTC"}
	for h := range 24 {
		v := float64(h)
		tl.HourOfWeek[2][h] = &v
	}
	c := Week(tl)
	if want := "GPUs in use by hour of the week, UTC: most on Wed 23:00 (23), fewest on Wed 00:00 (0)"; c.Title != want || len(c.Lines) != 1 {
		t.Errorf("%q with %d days, want %q with one", c.Title, len(c.Lines), want)
	}
}

// TestMeans holds that a shorter last step counts for less.
func TestMeans(t *testing.T) {
	m := meanOf{&outcome.Timeline{Step: 10, Length: 15}}
	if got := m.meanOver([]float64{1, 4}); math.Abs(got-2) > 1e-12 {
		t.Errorf("mean %v, want 2", got)
	}
}
