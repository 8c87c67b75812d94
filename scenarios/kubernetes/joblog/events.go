package joblog

import (
	"encoding/json"
	"fmt"
	"strings"

	"capcli"
)

// What can happen to the run of a job.
const (
	opens  = iota // it was admitted
	stops         // it was evicted
	closes        // it finished
)

// mark is something that happened to a Workload. Its id is namespace/name of the Workload.
type mark struct {
	workload string
	at       capcli.Time
	what     int
	why      string // reason of an eviction
	told     bool   // by an event, not by a condition
}

// addEvent keeps what an Event of Kueue says of runs.
func (r *Reader) addEvent(raw []byte) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	first, last, err := e.times()
	if err != nil {
		return fmt.Errorf("time of the event: %w", err)
	}
	r.see(last)
	r.Objects++
	ref, text := e.subject()
	id := ref.Namespace + "/" + ref.Name
	m := mark{workload: id, at: first, told: true}
	switch {
	case e.Reason == "CreatedWorkload":
		if _, name, ok := strings.Cut(text, "Workload: "); ok {
			r.created[strings.TrimSpace(name)] = id
		}
		return nil
	case e.Reason == "FinishedWorkload":
		m.workload, m.what = quotedName(text), closes
	case ref.Kind != "Workload":
		return nil
	case e.Reason == "Admitted":
		m.what = opens
	case e.Reason == "Preempted":
		m.what, m.why = stops, e.Reason
	case strings.HasPrefix(e.Reason, "EvictedDueTo"):
		m.what, m.why = stops, strings.TrimPrefix(e.Reason, "EvictedDueTo")
	default:
		return nil
	}
	r.marks[m] = struct{}{}
	if last > first { // the API server joins repeated events; what lies between is lost
		m.at = last
		r.marks[m] = struct{}{}
	}
	return nil
}

// quotedName returns the name between the first two single quotes of text, or "".
func quotedName(text string) string {
	_, rest, _ := strings.Cut(text, "'")
	name, _, ok := strings.Cut(rest, "'")
	if !ok {
		return ""
	}
	return name
}

// markConditions keeps what the conditions of a version of w say of its runs.
func (r *Reader) markConditions(w *workload) {
	for i := range w.Status.Conditions {
		c := &w.Status.Conditions[i]
		m := mark{workload: w.Metadata.id()}
		switch {
		case c.Status != "True":
			continue
		case c.Type == "Admitted":
			m.what = opens
		case c.Type == "Evicted":
			m.what, m.why = stops, c.Reason
		case c.Type == "Finished":
			m.what = closes
		default:
			continue
		}
		var err error
		if m.at, err = parseTime(c.Changed); err == nil && m.at.IsKnown() {
			r.marks[m] = struct{}{}
		}
	}
}
