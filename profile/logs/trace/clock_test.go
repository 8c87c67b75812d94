package trace

import (
	"testing"
	"time"

	"capcli"
)

// TestClockTransitions compares every quarter hour around changes of the clock
// with what the wall showed at every instant, found by going through them all.
func TestClockTransitions(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "America/Sao_Paulo"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Skipf("no zone data on this machine: %v", err)
		}
		for _, around := range []string{"2025-03-30", "2025-10-26", "2026-03-08", "2026-11-01", "2025-04-06", "2011-12-30", "2018-11-04", "2018-02-18"} {
			mid, err := time.ParseInLocation("2006-01-02", around, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			shown := map[string][]int64{}
			for at := mid.Unix() - 3*86400; at < mid.Unix()+3*86400; at += 900 {
				wall := time.Unix(at, 0).In(loc).Format("2006-01-02T15:04:05")
				shown[wall] = append(shown[wall], at)
			}
			first := clock{zone: loc}
			later := clock{zone: loc, later: true}
			for wall := mid.Unix() - 86400; wall < mid.Unix()+86400; wall += 900 {
				text := time.Unix(wall, 0).UTC().Format("2006-01-02T15:04:05")
				compareClock(t, zone, text, &first, &later, shown[text])
			}
		}
	}
}

func compareClock(t *testing.T, zone, text string, first, later *clock, want []int64) {
	t.Helper()
	a, badA := first.read([]byte(text))
	b, badB := later.read([]byte(text))
	switch {
	case len(want) == 0:
		if badA != gapHour || badB != gapHour {
			t.Errorf("%s %s: got %v %q, want a time that did not exist", zone, text, a, badA)
		}
	case badA != flawless || badB != flawless:
		t.Errorf("%s %s: %q, %q, want %v", zone, text, badA, badB, want)
	case int64(a.at) != want[0] || int64(b.at) != want[len(want)-1] || a.other.IsKnown() != (len(want) > 1):
		t.Errorf("%s %s: first pass %d, later %d, want %v", zone, text, a.at, b.at, want)
	}
}

func TestClock(t *testing.T) {
	utc := clock{zone: time.UTC}
	none := clock{}
	for _, c := range []struct {
		in   string
		on   *clock
		want capcli.Time
		bad  flaw
	}{
		{"1704067200", &none, 1704067200, ""},
		{"1704067200.5", &none, 1704067201, ""},
		{"2024-01-01T00:00:00Z", &none, 1704067200, ""},
		{"2024-01-01T01:00:00+01:00", &none, 1704067200, ""},
		{"2023-12-31T19:00:00-0500", &none, 1704067200, ""},
		{"2023-12-31 16:00:00-08", &none, 1704067200, ""},
		{"2024-01-01 00:00:00 UTC", &none, 1704067200, ""},
		{"2024-01-01 00:00:00.499999Z", &none, 1704067200, ""},
		{"2024-01-01 00:00:00.5Z", &none, 1704067201, ""},
		{"2024-02-29T00:00:00", &utc, 1709164800, ""},
		{"2024-01-01T00:00:00", &none, capcli.NoTime, noZone},
		{"2023-02-29T00:00:00", &utc, capcli.NoTime, notTime},
		{"2024-13-01T00:00:00", &utc, capcli.NoTime, notTime},
		{"2024-01-01T24:00:00", &utc, capcli.NoTime, notTime},
		{"2024-01-01", &utc, capcli.NoTime, notTime},
		{"2024-01-01T00:00:00+25:00", &utc, capcli.NoTime, notTime},
		{"2024-01-01T00:00:00 Mars", &utc, capcli.NoTime, notTime},
		{"yesterday", &utc, capcli.NoTime, notTime},
		{"NaN", &utc, capcli.NoTime, infinite},
		{"", &utc, capcli.NoTime, ""},
	} {
		got, bad := c.on.read([]byte(c.in))
		if got.at != c.want || bad != c.bad {
			t.Errorf("%q: got %d, %q; want %d, %q", c.in, got.at, bad, c.want, c.bad)
		}
	}
}

func berlin(tb testing.TB) *time.Location {
	tb.Helper()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Skipf("no zone data on this machine: %v", err)
	}
	return loc
}
