// Package gang finds the rank of a job that the others wait for.
//
// In synchronous work every step ends with a collective, in which a rank that is done spins in a kernel on few
// SMs until the last has come. So ranks that wait have kernels running and few SMs active, and the straggler has the
// least of that wait. It either computes longer, or its kernels begin later because its own input is late.
package gang

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Hour is what one rank did in an hour, or in some of them. NaN is not known.
type Hour struct {
	Hour    int64   // its begin
	Seconds float64 // that the rank held its device
	Minutes int64   // whole minutes of Wait
	Wait    float64 // mean of the time in kernels less the share of SMs active, in percent
	SD      float64 // of Wait from minute to minute
	Util    float64 // time in kernels, in percent
	SM      float64 // share of SMs active, in percent
	Clock   float64 // of the SMs, MHz
	Hot     float64 // share of the time in which heat held clocks back
	Capped  float64 // share of the time in which the power limit did
	Link    float64 // over links, MiB/s
}

// Rank is one device of a job.
type Rank struct{ Hours []Hour } // in order

// Cause is why a rank is late.
type Cause string

// The causes.
const (
	Heat  Cause = "heat"        // its clocks are held back by heat
	Power Cause = "power"       // by the power limit
	Clock Cause = "clock"       // its clocks are lower, and nothing says why
	Input Cause = "own_input"   // its kernels begin later: its process, its CPU or its disk is late
	Work  Cause = "longer_work" // it computes longer at the same clocks: it has more work, or slower memory or links
)

// Confidence says how well the straggler is told.
type Confidence string

// The levels of confidence.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Straggler is the verdict on a gang.
type Straggler struct {
	Rank       int     // index of the rank; -1: none, or it cannot be told
	Why        string  // why there is none, in words
	Alike      bool    // the ranks were compared and are alike
	Share      float64 // of the time compared in which the others waited for it
	Seconds    float64 // device-seconds of the gang that it cost
	From, To   int64   // first and last hour of that
	Wait       float64 // of it in that time, in percent
	OthersWait float64 // the median of the others
	Cause      Cause
	Evidence   string
	Confidence Confidence
}

// Rules that decide whether a rank is late. TestAlikeRanks bounds false alarms.
const (
	leastMinutes = 10  // of a rank in an hour
	leastGap     = 3.0 // points of Wait under the median of the others
	gapOver      = 4.0 // standard errors, and robust standard deviations of the others
	leastSpread  = 0.3 // points: of the others at least
	leastUtil    = 70  // percent of the time in kernels, of the others: they wait in them
	sameUtil     = 4.0 // points, of ranks that are all in kernels all the time
	sameSM       = 0.1 // share, of ranks that do the same work in each step
	leastLink    = 200 // MiB/s that a gang exchanges at least
	leastShare   = 0.1 // of the time compared
	ofFlagged    = 2.0 / 3
	lowerClock   = 0.97
	moreHot      = 0.1
	moreCapped   = 0.2
)

// late is an hour in which one rank was late.
type late struct {
	rank         int
	hour         int64
	lost         float64 // share of the time that the others waited for it
	wait, others float64
	input        bool
	seconds      float64 // of all ranks
	over         float64 // gap over what was needed
	linked       bool
}

// Judge returns the rank that the others wait for.
func Judge(ranks []Rank) Straggler {
	out := Straggler{Rank: -1}
	if len(ranks) < 2 {
		out.Why = "one device: nobody waits for another"
		return out
	}
	var all []late
	compared, differ := 0.0, false
	told := slices.ContainsFunc(ranks, func(r Rank) bool {
		return slices.ContainsFunc(r.Hours, func(h Hour) bool { return !math.IsNaN(h.SM) && !math.IsNaN(h.Util) })
	})
	for _, hour := range hoursOf(ranks) {
		at := hourRanks(ranks, hour)
		l, ok, odd := compare(at)
		differ = differ || odd
		if !ok {
			continue
		}
		compared += l.seconds
		if l.rank >= 0 {
			l.hour = hour
			all = append(all, l)
		}
	}
	switch {
	case compared == 0 && !told:
		out.Why = "cannot tell: the share of SMs active was not reported"
	case compared == 0 && differ:
		out.Why = "cannot tell: the ranks do different work, or do not work in step"
	case compared == 0:
		out.Why = "cannot tell: less than 10 minutes in which ranks worked side by side"
	default:
		out.settle(ranks, all, compared)
	}
	return out
}

// hoursOf returns the hours of all ranks, in order.
func hoursOf(ranks []Rank) []int64 {
	var out []int64
	for i := range ranks {
		for j := range ranks[i].Hours {
			out = append(out, ranks[i].Hours[j].Hour)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hourRanks returns what each rank did in an hour, nil where too little is known.
func hourRanks(ranks []Rank, hour int64) []*Hour {
	out := make([]*Hour, len(ranks))
	for i := range ranks {
		k, found := slices.BinarySearchFunc(ranks[i].Hours, hour, func(h Hour, at int64) int { return cmp.Compare(h.Hour, at) })
		if found && ranks[i].Hours[k].Minutes >= leastMinutes && !math.IsNaN(ranks[i].Hours[k].Wait) {
			out[i] = &ranks[i].Hours[k]
		}
	}
	return out
}

// compare finds the rank that was late in an hour; its rank is -1 where none was. ok is false where the ranks cannot
// be compared, odd where that is because they do different work.
func compare(at []*Hour) (l late, ok, odd bool) {
	l.rank = -1
	first := -1
	for i, h := range at {
		if h == nil {
			continue
		}
		l.seconds += h.Seconds
		if first < 0 || h.Wait < at[first].Wait {
			first = i
		}
	}
	var waits, utils, sms, links []float64
	for i, h := range at {
		if h != nil && i != first {
			waits, utils, sms, links = append(waits, h.Wait), append(utils, h.Util), append(sms, h.SM), append(links, h.Link)
		}
	}
	if len(waits) == 0 {
		return l, false, false
	}
	c := at[first]
	m, util, sm := median(waits), median(utils), median(sms)
	if util < leastUtil {
		return l, false, true
	}
	gap := m - c.Wait
	err := c.SD / math.Sqrt(float64(c.Minutes)) * math.Sqrt(1+1/float64(len(waits)))
	need := max(leastGap, gapOver*max(leastSpread, spread(waits, m)), gapOver*err)
	if gap < need {
		return l, true, false
	}
	l.input = c.Util < util-sameUtil
	if l.input && math.Abs(c.SM-sm) > max(leastGap, sameSM*sm) || !l.input && c.SM < sm {
		return l, false, true // less work in the same time: replicas, or stages of a pipeline
	}
	link := median(links)
	if link < leastLink {
		return l, false, true // nothing is exchanged
	}
	full := 1.0 // the straggler has no kernel while the others wait in theirs
	if !l.input {
		full = max(c.SM/c.Util, 0.05) // it computes, on so many of its SMs
	}
	l.rank, l.lost, l.wait, l.others, l.over, l.linked = first, min(gap/100/full, 1), c.Wait, m, gap/need, !math.IsNaN(link)
	return l, true, false
}

// settle names the rank that was late for most of the time in which one was.
func (s *Straggler) settle(ranks []Rank, all []late, compared float64) {
	byRank := map[int]float64{}
	flagged := 0.0
	for _, l := range all {
		byRank[l.rank] += l.seconds
		flagged += l.seconds
	}
	worst := -1
	for i := range ranks {
		if byRank[i] > 0 && (worst < 0 || byRank[i] > byRank[worst]) {
			worst = i
		}
	}
	switch {
	case worst < 0 || flagged < leastShare*compared:
		s.Alike, s.Why = true, "the ranks are alike within their noise"
		return
	case byRank[worst] < ofFlagged*flagged:
		s.Why = "cannot tell: hours point to different ranks"
		return
	}
	s.Rank, s.Share = worst, byRank[worst]/compared
	var hours, input, over, linked float64
	for _, l := range all {
		if l.rank != worst {
			continue
		}
		if s.Seconds == 0 {
			s.From = l.hour
		}
		s.To = l.hour
		s.Seconds += l.seconds * l.lost
		s.Wait, s.OthersWait = s.Wait+l.wait*l.seconds, s.OthersWait+l.others*l.seconds
		over += l.over * l.seconds
		if l.input {
			input += l.seconds
		}
		if l.linked {
			linked += l.seconds
		}
		hours += l.seconds
	}
	s.Wait, s.OthersWait = s.Wait/hours, s.OthersWait/hours
	s.explain(ranks, input > hours/2)
	switch {
	case linked < hours/2:
		s.Confidence = Low
	case over/hours >= 1.5 && s.Share >= 0.5:
		s.Confidence = High
	default:
		s.Confidence = Medium
	}
}

func (s *Straggler) explain(ranks []Rank, input bool) {
	mine := s.means(ranks[s.Rank])
	var clocks, hots, caps, utils []float64
	for i := range ranks {
		if i == s.Rank {
			continue
		}
		o := s.means(ranks[i])
		clocks, hots, caps, utils = append(clocks, o.Clock), append(hots, o.Hot), append(caps, o.Capped), append(utils, o.Util)
	}
	clock, hot, capped := median(clocks), median(hots), median(caps)
	s.Evidence = fmt.Sprintf("waits in kernels %.0f%% of the time, the others %.0f%%", s.Wait, s.OthersWait)
	slow := mine.Clock < lowerClock*clock
	if slow {
		s.Evidence += fmt.Sprintf("; its SMs run at %.0f MHz, the others at %.0f", mine.Clock, clock)
	}
	switch {
	case mine.Hot > hot+moreHot:
		s.Cause = Heat
		s.Evidence += fmt.Sprintf("; heat holds its clocks back %.0f%% of the time, the others' %.0f%%", 100*mine.Hot, 100*hot)
	case slow && mine.Capped > capped+moreCapped:
		s.Cause = Power
		s.Evidence += fmt.Sprintf("; the power limit holds its clocks back %.0f%% of the time, the others' %.0f%%", 100*mine.Capped, 100*capped)
	case input:
		s.Cause = Input
		s.Evidence += fmt.Sprintf("; its kernels run %.0f%% of the time, the others' %.0f%%", mine.Util, median(utils))
	case slow:
		s.Cause = Clock
	default:
		s.Cause = Work
	}
}

// means are the means of a rank over the time in which it was late.
func (s *Straggler) means(r Rank) Hour {
	var sum Hour
	for i := range r.Hours {
		h := &r.Hours[i]
		if h.Hour < s.From || h.Hour > s.To {
			continue
		}
		sum.Seconds += h.Seconds
		sum.Util, sum.Clock = sum.Util+h.Util*h.Seconds, sum.Clock+h.Clock*h.Seconds
		sum.Hot, sum.Capped = sum.Hot+h.Hot*h.Seconds, sum.Capped+h.Capped*h.Seconds
	}
	sum.Util, sum.Clock, sum.Hot, sum.Capped = sum.Util/sum.Seconds, sum.Clock/sum.Seconds, sum.Hot/sum.Seconds, sum.Capped/sum.Seconds
	return sum
}

// median returns the median of values, without those that are not known; NaN without any.
func median(values []float64) float64 {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spread is the standard deviation by the median deviation from m, as of a normal distribution.
func spread(values []float64, m float64) float64 {
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - m)
	}
	return 1.4826 * median(off)
}
