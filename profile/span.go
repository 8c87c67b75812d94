package profile

import (
	"time"

	"capcli"
)

// ParseSpan reads the first and the last moment of samples; "" is open. A date as to is
// meant whole. Times that name no zone are in zone; nil is UTC. The error is a
// *capcli.RequestError.
func ParseSpan(from, to string, zone *time.Location) (begin, end Instant, err error) {
	for _, t := range []struct {
		name, text string
		end        bool
		at         *Instant
	}{{"from", from, false, &begin}, {"to", to, true, &end}} {
		if t.text == "" {
			continue
		}
		at, err := capcli.ParseTime(t.text, zone, t.end)
		if err != nil {
			return 0, 0, &capcli.RequestError{Field: t.name, Text: err.Error()}
		}
		if start, _ := capcli.ParseTime(t.text, zone, false); start != at {
			at++ // of a day that is meant whole, the end is the second after its last
		}
		*t.at = InstantOf(at.Std())
	}
	return begin, end, nil
}
