package roadmap

import (
	"time"

	"capcli"
	"capcli/forecast/holidays"
)

// Plan holds the planned events of one file.
type Plan struct {
	File string         // name of the file, for messages
	Zone *time.Location // time zone of the days; nil is UTC
	List []Entry        // in the order of the file
}

// Entry is an event with the names of the series that it changes.
type Entry struct {
	Name   string
	Kind   string   // step, pulse, ramp, campaign, team or holiday
	Line   int      // line in the file
	Series []string // names of the series; nil where the file names none
	All    bool     // it changes every series
	// Event is the change of demand. For a holiday it has only the declared size.
	Event Event
	// Campaign and Cost are set for a campaign only.
	Campaign *Campaign
	Cost     Cost
	Holiday  *holidays.Rule // set for a holiday only
}

// InGPUs reports whether the event adds a number of GPUs, rather than a share of the forecast or
// an effect learnt from the history.
func (p *Entry) InGPUs() bool {
	return !p.Event.Relative && (p.Holiday == nil || p.Holiday.Declared)
}

// Calendar returns the holiday with its days from one year to another.
func (p *Entry) Calendar(from, to int) holidays.Calendar {
	h := p.Holiday
	return holidays.Calendar{Zone: h.Zone, Holidays: []holidays.Holiday{{Name: p.Name, Dates: h.Dates(from, to), Before: h.Before, After: h.After}}}
}

// FallsWithin reports whether a day of the holiday lies between the first and the last of
// bounds.
func (p *Entry) FallsWithin(bounds []capcli.Time) bool {
	c := p.Calendar(bounds[0].Std().Year()-1, bounds[len(bounds)-1].Std().Year()+1)
	_, columns := c.Regressors(bounds)
	for _, column := range columns {
		for _, v := range column {
			if v > 0 {
				return true
			}
		}
	}
	return false
}
