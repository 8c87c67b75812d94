package profile

import (
	"errors"
	"testing"
	"time"

	"capcli"
)

// TestParseSpan: a date as the end is meant whole, a time is not.
func TestParseSpan(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) Instant {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return InstantOf(v)
	}
	begin, end, err := ParseSpan("2026-03-29", "2026-03-29", berlin)
	if err != nil || begin != at("2026-03-28T23:00:00Z") || end != at("2026-03-29T22:00:00Z") {
		t.Errorf("a day of 23 hours: %v to %v, %v", begin, end, err)
	}
	if _, end, err = ParseSpan("", "2026-03-29T12:00", nil); err != nil || end != at("2026-03-29T12:00:00Z") {
		t.Errorf("a time: to %v, %v", end, err)
	}
	if begin, end, err = ParseSpan("", "", nil); begin != 0 || end != 0 || err != nil {
		t.Errorf("open: %v to %v, %v", begin, end, err)
	}
	var wrong *capcli.RequestError
	if _, _, err = ParseSpan("", "soon", nil); !errors.As(err, &wrong) || wrong.Field != "to" {
		t.Errorf("no date: %v", err)
	}
}
