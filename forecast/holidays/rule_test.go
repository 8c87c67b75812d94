package holidays

import (
	"testing"
	"time"
)

// TestEaster holds the formula against Easters that were (and its extremes).
func TestEaster(t *testing.T) {
	for year, want := range map[int]string{1818: "03-22", 1943: "04-25", 1961: "04-02", 2000: "04-23", 2008: "03-23", 2024: "03-31", 2025: "04-20", 2026: "04-05", 2038: "04-25"} {
		m, d := easter(year)
		if got := time.Date(year, m, d, 0, 0, 0, 0, time.UTC).Format("01-02"); got != want {
			t.Errorf("%d: %s, want %s", year, got, want)
		}
	}
}
