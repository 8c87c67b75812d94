package play

import (
	"path/filepath"
	"slices"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/events"
)

// eventsMax is the most bytes of a file of events.
const eventsMax = 2 << 20

// ReadEvents reads files of planned events and merges them (events.Merge). A file that is named twice is read once.
// Days and times without a zone are in the timezone of their file, else in zone; nil is UTC. It fails with the errors
// of open, events.Parse and events.Merge.
func ReadEvents(open trace.Opener, names []string, zone *time.Location) (*events.Plan, error) {
	var plans []*events.Plan
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		b, err := open.ReadFile(name, eventsMax+1)
		if err != nil {
			return nil, err
		}
		if len(b) > eventsMax {
			return nil, &capcli.InputError{File: name, Text: "expected at most 2 MiB of events, found more"}
		}
		p, err := events.Parse(name, b, zone, func(other string) ([]byte, error) { return ReadBeside(open, filepath.Dir(name), other) })
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return events.Merge(plans)
}
