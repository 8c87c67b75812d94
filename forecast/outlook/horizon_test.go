package outlook

import (
	"fmt"
	"strconv"
	"testing"

	"capcli"
)

func TestUsualSeasonsAndHorizons(t *testing.T) {
	tests := []struct{ step, seasons, horizon string }{
		{"1h", "[24 168]", "48"},
		{"30m", "[48 336]", "96"},
		{"1d", "[7]", "28"},
		{"1w", "[52]", "26"},
		{"1mo", "[12]", "12"},
		{"1q", "[4]", "4"},
		{"1y", "[1]", "1"},
		{"7m", "[1440]", "288"},
		{"1m", "[1440 10080]", "288"},
	}
	for _, tt := range tests {
		s, err := capcli.ParseStep(tt.step)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(usualSeasons(s)); got != tt.seasons {
			t.Errorf("%s: seasons %s, want %s", tt.step, got, tt.seasons)
		}
		if got := strconv.Itoa(UsualHorizon(s)); got != tt.horizon {
			t.Errorf("%s: horizon %s, want %s", tt.step, got, tt.horizon)
		}
	}
}
