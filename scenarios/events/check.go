package events

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast/model"
	"capcli/forecast/roadmap"
	"capcli/scenarios/strict"
)

// eightyWide is half the width of the central 80 % range of a normal variable, in standard
// deviations.
const eightyWide = 1.2815515655446004

// check checks the fields of an event together and completes the event.
func (p *planning) check(o *strict.Object) {
	e := &p.Event
	e.Name = p.Name
	if p.Kind == "holiday" {
		if !o.Has("dates") {
			o.FaultMissing("dates", "a holiday needs dates: 12-25 for every year, 2027-02-06 for one")
		}
		p.Holiday.Declared = o.Has("gpus") || o.Has("share")
		p.size(o)
		if o.Has("sd") && !p.Holiday.Declared {
			o.FaultName("sd", "sd is of a declared gpus or share, and neither is given: the history says how sure it is")
		}
		return
	}
	if !o.Has("from") {
		o.FaultMissing("from", "%s needs from, the day on which it begins", p.Kind)
	}
	switch p.Kind {
	case "campaign":
		p.checkCampaign(o)
	case "team":
		p.checkTeam(o)
	default:
		e.Shape = roadmap.Shape(p.Kind)
		if !o.Has("gpus") && !o.Has("share") && !o.Has("low") && !o.Has("high") {
			o.FaultMissing("gpus", "%s needs gpus, how many more there will be, or share, a share of the forecast", p.Kind)
		}
		p.size(o)
		p.checkEnd(o)
	}
	p.checkLast(o)
}

// checkLast checks the event as the forecast sees it, for faults that single fields do not show.
func (p *planning) checkLast(o *strict.Object) {
	if o.Decoder.FaultCount() > 0 || p.Campaign != nil && p.Campaign.Profile != nil {
		return
	}
	var in *capcli.InputError
	if err := p.Event.Check(); errors.As(err, &in) {
		o.Fault("from", "%s", in.Text)
	}
}

func (p *planning) checkEnd(o *strict.Object) {
	e := &p.Event
	switch {
	case !o.Has("to") && p.Kind != "step":
		o.FaultMissing("to", "a %s needs to, its last day", p.Kind)
	case o.Has("to") && o.Has("from") && o.IsClean("from", "to") && e.End <= e.Start:
		o.Fault("to", "%s ends %s, before it starts %s", p.Kind, o.Value("to").Value, o.Value("from").Value)
	}
}

// size combines gpus, share, low, high and sd.
func (p *planning) size(o *strict.Object) {
	e := &p.Event
	if o.Has("share") {
		if o.Has("gpus") {
			o.FaultName("share", "share and gpus both say how much; leave one out")
			return
		}
		e.Size, e.Relative = p.share, true
	}
	if sd := o.Value("sd"); sd != nil && !e.Relative && strings.HasSuffix(sd.Value, "%") {
		o.Fault("sd", "sd is in GPUs as gpus is; write a number, not a percentage")
	}
	switch low, high := o.Has("low"), o.Has("high"); {
	case low != high:
		one, other := "low", "high"
		if high {
			one, other = other, one
		}
		o.FaultName(one, "%s goes with %s: together they hold 80%% of what may come", one, other)
	case !low:
	case o.Has("share"):
		o.FaultName("low", "low and high are in GPUs, and share is not; give sd")
	case o.Has("sd"):
		o.FaultName("sd", "sd says the same as low and high; leave one out")
	case !o.IsClean("low", "high", "gpus"):
	case p.high < p.low:
		o.Fault("high", "high is %s, under low, which is %s", o.Value("high").Value, o.Value("low").Value)
	default:
		if !o.Has("gpus") {
			e.Size = (p.low + p.high) / 2
		} else if e.Size < p.low || e.Size > p.high {
			o.Fault("gpus", "gpus is %s, outside of low to high, %s to %s", o.Value("gpus").Value, o.Value("low").Value, o.Value("high").Value)
		}
		e.SizeSD = (p.high - p.low) / 2 / eightyWide
	}
}

// plainText returns an error's text without the error that it wraps.
func plainText(err error) string {
	var in *capcli.InputError
	if errors.As(err, &in) {
		return in.Text
	}
	return strings.TrimSuffix(err.Error(), ": "+model.ErrUnfit.Error())
}

var peopleForm = regexp.MustCompile(`^(\d{1,8}) +to +(\d{1,8})$`)

// checkTeam makes the ramp of a growing team.
func (p *planning) checkTeam(o *strict.Object) {
	for _, need := range []string{"people", "gpus_per_person"} {
		if !o.Has(need) {
			o.FaultMissing(need, "a team needs %s", need)
		}
	}
	p.Event.Shape = roadmap.Ramp
	p.checkEnd(o)
	if !o.Has("people") || !o.IsClean("people") {
		return
	}
	m := peopleForm.FindStringSubmatch(p.people)
	if m == nil {
		o.Fault("people", "people: want from how many to how many, such as 6 to 14, found %s", capcli.Quoted(p.people))
		return
	}
	from, _ := strconv.Atoi(m[1]) // the pattern allows at most eight digits
	to, _ := strconv.Atoi(m[2])
	if from > mostPeople || to > mostPeople {
		o.Fault("people", "people: want at most %d, found %s", mostPeople, capcli.Quoted(p.people))
		return
	}
	e := p.Event
	p.Event = roadmap.TeamGrowth(p.Name, from, to, e.Start, e.End, p.perPerson, e.SizeSD)
	p.Event.Chance, p.Event.Delay = e.Chance, e.Delay
}

// readRatio reads a number, or a percentage: 0.2 or 20%.
func readRatio(dst *float64, lo, hi float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a number or a percentage")
		if !ok {
			return
		}
		digits, percent := strings.CutSuffix(s, "%")
		if !percent {
			strict.Number(dst, lo, hi)(d, n)
			return
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		switch {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
			d.FaultWant(n, "a number or a percentage such as 20%")
		case v/100 < lo || v/100 > hi:
			d.Fault(n, "%s is %s; want %v to %v", d.FieldName(), capcli.Quoted(s), lo, hi)
		default:
			*dst = v / 100
		}
	}
}

// readLarge reads a large number over 0: 70e9, 70B, 15T.
func readLarge(dst *float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		const what = "a number over 0 such as 70e9, 70B or 15T"
		s, ok := d.ReadScalar(n, what)
		if !ok {
			return
		}
		unit := 1.0
		if k := strings.IndexAny("KMBTP", strings.ToUpper(s[len(s)-min(1, len(s)):])); k >= 0 && s != "" {
			unit, s = math.Pow(1000, float64(k+1)), strings.TrimSpace(s[:len(s)-1])
		}
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0:
			d.FaultWant(n, what)
		case v*unit > mostScale:
			d.Fault(n, "%s is %s; at most %g is believed", d.FieldName(), capcli.Quoted(n.Value), mostScale)
		default:
			*dst = v * unit
		}
	}
}
