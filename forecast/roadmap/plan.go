package roadmap

import (
	"time"

	"capcli"
	"capcli/forecast/holidays"
)

// Plan is what a person knows of the demand to come.
type Plan struct {
	File string         // that states them, for messages
	Zone *time.Location // of its days; nil is UTC
	List []Entry        // in the order of the file
}

// Entry is an event with the names of the series that it changes.
type Entry struct {
	Name   string
	Kind   string   // step, pulse, ramp, campaign, team or holiday
	Line   int      // of the file
	Series []string // the series that it changes; none where the file does not say
	All    bool     // it changes every series
	// Event is what it does to demand; of a holiday it has the declared size alone.
	Event Event
	// Campaign and Cost are of a campaign.
	Campaign *Campaign
	Cost     Cost
	Holiday  *holidays.Rule // of a holiday
}

// InGPUs reports whether the event adds a number of GPUs, not a share of the forecast
// or what the history says of a holiday.
func (p *Entry) InGPUs() bool {
	return !p.Event.Relative && (p.Holiday == nil || p.Holiday.Declared)
}

// Calendar returns the holiday with its days from one year to another.
func (p *Entry) Calendar(from, to int) holidays.Calendar {
	h := p.Holiday
	return holidays.Calendar{Zone: h.Zone, Holidays: []holidays.Holiday{{Name: p.Name, Dates: h.Dates(from, to), Before: h.Before, After: h.After}}}
}

// FallsWithin reports whether a day of the holiday lies between the first and the
// last of bounds.
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
