package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Thresholds of verdicts, as shares of the time held.
const (
	neverShare    = 0.005 // active for less
	mostlyIdle    = 0.5   // idle for more
	majority      = 0.5
	lostShare     = 0.15 // of the time lost to one kind: it is the verdict even without a majority
	lostAhead     = 1.5  // and times more than to the next kind
	mentionLeast  = 0.1  // share of a kind that the words of a mixed verdict name
	almostAll     = 0.95
	percentWhole  = 100
	mibOfGib      = 1024
	leastWordsGiB = 0.05
	servesUtil    = 15.0 // % of time with a kernel: under, the words say no more
)

// Verdict is the judgement on all that was found.
type Verdict struct {
	Kind       Kind
	Confidence Confidence
	Words      string
}

// Overall returns the verdict on findings. burst is the median length of a burst in seconds, NaN if
// there was none.
//
// Time lost decides: the kind to which at least 15 % of the time held was lost, and clearly more than
// to any other, is the verdict. Otherwise it is the kind with the majority of time, and without a
// majority it is mixed.
func Overall(found []Found, burst float64) Verdict {
	held := int64(0)
	for i := range found {
		held += found[i].Time
	}
	if held == 0 {
		return Verdict{Unknown, Low, "activity is not reported here"}
	}
	share := func(micros int64) float64 { return float64(micros) / float64(held) }
	var idle, worst, second, most *Found
	for i := range found {
		f := &found[i]
		if f.Kind == Idle {
			idle = f
			continue
		}
		switch {
		case worst == nil || f.Lost > worst.Lost:
			worst, second = f, worst
		case second == nil || f.Lost > second.Lost:
			second = f
		}
		if most == nil || f.Time > most.Time {
			most = f
		}
	}
	if idle != nil && (share(held-idle.Lost) < neverShare) {
		return Verdict{NeverBusy, idle.Confidence(), "allocated, never busy"}
	}
	if idle != nil && share(idle.Lost) > mostlyIdle {
		return Verdict{MostlyIdle, idle.Confidence(), fmt.Sprintf("allocated, busy %.0f%% of the time", percentWhole*share(held-idle.Lost))}
	}
	if worst != nil && worst.Kind != Unknown && share(worst.Lost) >= lostShare &&
		(share(worst.Time) >= majority || second == nil || float64(worst.Lost) >= lostAhead*float64(second.Lost)) {
		return worst.verdict(held, burst)
	}
	if most != nil && share(most.Time) >= majority {
		return most.verdict(held, burst)
	}
	if v, ok := atWork(found, held); ok {
		return v
	}
	return mixture(found, held)
}

// atWork is the verdict where the kinds of work together have the majority.
func atWork(found []Found, held int64) (Verdict, bool) {
	time, points := int64(0), int64(0)
	for i := range found {
		if k := found[i].Kind; k == ComputeBound || k == MemoryBound || k == Working {
			time, points = time+found[i].Time, points+found[i].Points
		}
	}
	if float64(time) < majority*float64(held) {
		return Verdict{}, false
	}
	all := Found{Kind: Working, Time: time, Points: points}
	return Verdict{Working, all.Confidence(), all.shareWords("working", held)}, true
}

// mixture names the kinds of a verdict without a majority, the largest first.
func mixture(found []Found, held int64) Verdict {
	left := append([]Found(nil), found...)
	var parts []string
	sure := High
	for len(parts) < 3 {
		best := -1
		for i := range left {
			if left[i].Time > 0 && (best < 0 || left[i].Time > left[best].Time) {
				best = i
			}
		}
		if best < 0 || float64(left[best].Time) < mentionLeast*float64(held) {
			break
		}
		f := &left[best]
		parts = append(parts, fmt.Sprintf("%.0f%% %s", percentWhole*float64(f.Time)/float64(held), f.Kind.Describe().Words))
		sure = min(sure, f.Confidence())
		f.Time = 0
	}
	return Verdict{Mixed, sure, "mixed: " + strings.Join(parts, ", ")}
}

// verdict is that of one finding, with its evidence in words.
func (f *Found) verdict(held int64, burst float64) Verdict {
	return Verdict{f.Kind, f.Confidence(), f.Words(held, burst)}
}

// shareWords adds to words for how much of the time held they are true.
func (f *Found) shareWords(words string, held int64) string {
	if s := float64(f.Time) / float64(held); s < almostAll {
		return fmt.Sprintf("%s %.0f%% of the time", words, percentWhole*s)
	}
	return words
}

// Words returns the finding in words, with its share of the time held and the values that tell.
func (f *Found) Words(held int64, burst float64) string {
	if f.Kind == Starved || f.Kind == Light {
		return f.loadWords(held, burst)
	}
	if f.Kind == Unknown || f.Kind == Working {
		if util := f.Value(DatumUtil); !math.IsNaN(util) && math.IsNaN(f.Value(DatumSM)) {
			return fmt.Sprintf("a kernel ran %.0f%% of the time; how much of the GPU it used is unknown", util)
		}
	}
	words := f.shareWords(f.Kind.Describe().Words, held)
	if told := f.values(); told != "" {
		words += ": " + told
	}
	return words
}

// loadWords are the words of pauses and of light loads.
func (f *Found) loadWords(held int64, burst float64) string {
	paused := percentWhole * float64(f.Lost) / float64(held)
	if f.Kind == Starved {
		bursts := ""
		if burst == burst && float64(f.Time) >= majority*float64(held) {
			bursts = fmt.Sprintf("busy in %.0f s bursts, ", max(1, burst))
		}
		if f.Value(DatumWait) >= inputWait {
			return fmt.Sprintf("short of input: %swaits %.0f%% of the time, for disk or cores", bursts, paused)
		}
		return fmt.Sprintf("%swaits between bursts for %.0f%% of the time, may be short of input", bursts, paused)
	}
	util, sm := f.Value(DatumUtil), f.Value(DatumSM)
	if f.Value(DatumPaused) >= percentWhole*pausedShare {
		return fmt.Sprintf("lightly loaded: serves in bursts, idle %.0f%% of the time", paused)
	}
	if math.IsNaN(util) || math.IsNaN(sm) && util >= servesUtil {
		return f.shareWords("lightly loaded", held)
	}
	if util < servesUtil {
		return fmt.Sprintf("lightly loaded: a kernel ran %.0f%% of the time", util)
	}
	return fmt.Sprintf("light: %.0f%% of SMs active when a kernel runs %.0f%% of the time", sm, util)
}

// values returns the values that tell a kind, in words.
func (f *Found) values() string {
	v := func(d Datum, format string) string {
		if x := f.Value(d); x == x {
			return fmt.Sprintf(format, x)
		}
		return ""
	}
	link := func(d Datum, name string) string {
		if x := f.Value(d) / mibOfGib; x >= leastWordsGiB {
			return fmt.Sprintf("%.*f GiB/s over %s", decimals(x), x, name)
		}
		return ""
	}
	var parts []string
	switch f.Kind {
	case MemoryBound:
		return v(DatumDRAM, "%.0f%% of its bandwidth")
	case ComputeBound:
		return v(DatumTensor, "tensor %.0f%%")
	case Stuck:
		parts = []string{v(DatumUtil, "busy %.0f%%"), v(DatumSM, "SM %.0f%%"), v(DatumPower, "%.0f W")}
	case SmallKernels:
		parts = []string{v(DatumSM, "%.0f%% of SMs"), v(DatumUtil, "busy %.0f%%")}
	case PowerCap, ThermalCap:
		parts = []string{v(DatumClock, "%.0f MHz"), v(DatumPower, "%.0f W")}
	case CommInNode:
		parts = []string{v(DatumSM, "SM %.0f%%"), link(DatumNVLink, "NVLink")}
		if !(f.Value(DatumNVLink) > nvlinkWaits*usualNVLink) {
			parts[1] = link(DatumPCIeTx, "PCIe")
		}
	case CommBetween:
		parts = []string{v(DatumSM, "SM %.0f%%"), link(DatumNet, "the network")}
		if parts[1] == "" {
			parts[1] = link(DatumPCIeTx, "PCIe")
		}
	default: // HostTransfer, CommBound
		if f.Kind != HostTransfer && f.Kind != CommBound {
			return ""
		}
		parts = []string{v(DatumSM, "SM %.0f%%"), link(DatumPCIeRx, "PCIe to it"), link(DatumPCIeTx, "PCIe from it")}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

func decimals(x float64) int {
	if x < 10 {
		return 1
	}
	return 0
}
