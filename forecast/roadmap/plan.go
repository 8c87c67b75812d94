package roadmap

import (
	"cmp"
	"fmt"
	"time"

	"capcli"
	"capcli/forecast/holidays"
)

// Plan holds the planned events of one file or of several.
type Plan struct {
	File  string   // name of the file, for messages; names with commas where there are several
	List  []Entry  // in the order of the file; those of several in the order of their names
	Notes []string // what is unusual about the events together
}

// Entry is an event with the names of the series that it changes.
type Entry struct {
	Name string
	Kind string // step, pulse, ramp, campaign, team or holiday
	File string // name of the file, for messages
	Line int    // line in the file
	// Zone is the time zone of the days in the file; nil is UTC.
	Zone   *time.Location
	Series []string // names of the series; nil where the file names none
	All    bool     // it changes every series
	// Event is the change of demand. For a holiday it has only the declared size.
	Event Event
	// Campaign and Cost are set for a campaign only.
	Campaign *Campaign
	Cost     Cost
	Success  *Success       // what follows a campaign that succeeds; nil is nothing
	Holiday  *holidays.Rule // set for a holiday only
	Ask      Ask            // what is said of the event as a request for capacity
}

// Ask is what a team says of an event that it asks capacity for. Each text may be "".
type Ask struct {
	Team    string     // who asks
	AskedBy string     // the person who answers for it
	Reason  string     // what it is for
	Without string     // what happens without it
	Value   capcli.USD // what it is worth if it happens; 0 is not said
}

// Place returns where the event is, FILE:LINE.
func (p *Entry) Place() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// InGPUs reports whether the event adds a number of GPUs, rather than a share of the forecast or
// an effect learnt from the history.
func (p *Entry) InGPUs() bool {
	return !p.Event.Relative && (p.Holiday == nil || p.Holiday.Declared)
}

// Calendar returns the holiday with its days from one year to another.
func (p *Entry) Calendar(from, to int) holidays.Calendar {
	h := p.Holiday
	return holidays.Calendar{Zone: h.Zone, Holidays: []holidays.Holiday{{Name: p.Name, Dates: h.Dates(from, to), Before: h.Before, After: h.After, Zone: h.Zone}}}
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

// Success is what follows a campaign that succeeds: another run, or GPUs for a product.
type Success struct {
	Chance float64        // that it follows if the campaign happens
	After  capcli.Seconds // time between the two
	GPUs   int            // that it holds; 0 is those of the campaign
	For    capcli.Seconds // it holds them for so long; 0 is a run, whose length follows from its size
	// Parameters, Tokens and Runs of that run; 0 is those of the campaign.
	Parameters, Tokens float64
	Runs               int
}

// Settle computes the cost of a campaign and its event from the event's start, chance and delays.
func (p *Entry) Settle() error {
	cost, err := p.Campaign.Cost()
	if err != nil {
		return err
	}
	event, err := p.Campaign.Event(p.Event.Start)
	if err != nil {
		return err
	}
	event.Chance, event.Delay, event.Delays = p.Event.Chance, p.Event.Delay, p.Event.Delays
	p.Event, p.Cost = event, cost
	return nil
}

// FollowUp returns what follows a settled campaign that succeeds. It is false if nothing does.
func (p *Entry) FollowUp() (Entry, bool, error) {
	s := p.Success
	if s == nil || p.Campaign == nil {
		return Entry{}, false, nil
	}
	next := *p
	c := *p.Campaign
	next.Name, next.Success, next.Campaign = p.Name+": success", nil, &c
	c.Name, c.GPUs, c.Runs = next.Name, cmp.Or(s.GPUs, c.GPUs), cmp.Or(s.Runs, c.Runs)
	if s.Parameters > 0 {
		c.Parameters = s.Parameters
		c.Active = 0
	}
	c.Tokens = cmp.Or(s.Tokens, c.Tokens)
	c.Work.Class, c.Work.Tenant = cmp.Or(c.Work.Class, p.Name), cmp.Or(c.Work.Tenant, p.Name)
	next.Event = Event{Start: p.Event.End + capcli.Time(s.After)}
	if s.For > 0 {
		c.Runs = 1
		next.Event = Event{Name: next.Name, Shape: Pulse, Start: next.Event.Start, End: next.Event.Start + capcli.Time(s.For), Size: float64(c.GPUs)}
		next.Cost = c.heldFor(s.For)
	} else if err := next.Settle(); err != nil {
		return Entry{}, false, err
	}
	next.Event.Name, next.Event.Parent, next.Event.Chance = next.Name, p.Name, p.Event.chance()*s.Chance
	return next, true, nil
}

// heldFor returns the cost of holding the campaign's GPUs for some time, at its price of a GPU-hour.
func (c *Campaign) heldFor(length capcli.Seconds) Cost {
	hours := length.Hours()
	out := Cost{GPUHours: hours * float64(c.GPUs), Hours: hours, Length: length}
	out.Lo, out.Hi = out.GPUHours, out.GPUHours
	out.Parts = []Part{{"held", out.GPUHours}}
	if p := c.Prices.GPU; p != nil && out.GPUHours < 1e9 {
		usd := capcli.Cost(*p, capcli.GPUTime(int64(c.GPUs)*int64(length)*1000))
		out.Terms = []Term{{"GPUs", usd, usd, usd}}
		out.Total = &Term{"total", usd, usd, usd}
	}
	return out
}
