package trace

import (
	"testing"
	"time"
)

func berlin(tb testing.TB) *time.Location {
	tb.Helper()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Skipf("no zone data on this machine: %v", err)
	}
	return loc
}
