package profile

import (
	"fmt"
	"math"
)

// VerdictKind is a judgement on the use of a GPU, or on the use of GPUs by a job.
type VerdictKind string

// The verdicts, from the worst use of money to the best.
const (
	NeverBusy    VerdictKind = "never_busy"          // held, and never computed
	MostlyIdle   VerdictKind = "mostly_idle"         // held, and nobody at work for most of the time
	Starved      VerdictKind = "input_starved"       // computes in bursts and waits between them
	CommBound    VerdictKind = "communication_bound" // kernels run, but wait on other GPUs
	Light        VerdictKind = "light"               // kernels run, but fill little of the GPU
	MemoryBound  VerdictKind = "memory_bound"        // as fast as device memory is
	Working      VerdictKind = "working"
	Free         VerdictKind = "free"    // nobody held it
	NotMeasured  VerdictKind = "unknown" // activity was not reported
	TooShortSeen VerdictKind = "too_short"
)

// Thresholds of the verdicts. They are rules of thumb, as shares of time or of a peak. The report
// shows the values on which a verdict is based.
const (
	leastSeen      = 10_000_000 // microseconds: less is no base for a verdict
	freeShare      = 0.01       // held for less: free
	neverShare     = 0.005      // active for less of the time held
	idleShare      = 0.5        // held and idle for more
	starvedShare   = 0.15       // paused between bursts for more
	fullDRAM       = 60.0       // % of peak bandwidth; 60 to 80 is what memory-bound kernels reach
	commUtil       = 80.0       // % with a kernel running
	commSM         = 60.0       // and under so many % of SMs active
	commLink       = 40_000.0   // and so many MiB/s over links: more than a PCIe 4.0 slot carries
	lightSM        = 25.0       // % of SMs active
	percentOfWhole = 100
)

// Verdict is a judgement and the words for it.
type Verdict struct {
	Kind  VerdictKind
	Words string
}

// Judge returns the verdict on the use of a device or by a job.
func (u *Use) Judge() Verdict {
	held, seen := float64(u.Held), float64(u.Seen)
	if u.Watched < leastSeen {
		return Verdict{TooShortSeen, "observed for too short a time"}
	}
	if u.Util.Time() == 0 && u.SM.Time() == 0 {
		return Verdict{NotMeasured, "activity is not reported here"}
	}
	if held < freeShare*seen {
		if u.BusyShare() > freeShare {
			return Verdict{Working, fmt.Sprintf("busy %.0f%% of the time, by an unknown process", percentOfWhole*u.BusyShare())}
		}
		return Verdict{Free, "free"}
	}
	active := 1 - float64(u.Idle)/held
	switch {
	case active < neverShare:
		return Verdict{NeverBusy, "allocated, never busy"}
	case float64(u.Starved) >= starvedShare*held && float64(u.Idle-u.Starved) <= idleShare*held:
		return Verdict{Starved, u.starvedWords()}
	case float64(u.Idle) > idleShare*held:
		return Verdict{MostlyIdle, fmt.Sprintf("allocated, busy %.0f%% of the time", percentOfWhole*active)}
	}
	return u.judgeWork()
}

func (u *Use) starvedWords() string {
	words := fmt.Sprintf("waits between bursts for %.0f%% of the time, may be short of input", percentOfWhole*float64(u.Starved)/float64(u.Held))
	if b := u.Burst(); !math.IsNaN(b) {
		words = fmt.Sprintf("busy in %.0f s bursts, %s", max(1, b), words)
	}
	return words
}

// judgeWork returns the verdict on a device or a job that computes.
func (u *Use) judgeWork() Verdict {
	sm, dram, link, util := u.SM.Mean(), u.DRAM.Mean(), u.Link.Mean(), u.Util.Mean()
	switch {
	case dram >= fullDRAM && !(u.Tensor.Mean() > dram):
		return Verdict{MemoryBound, fmt.Sprintf("bound by memory: %.0f%% of its bandwidth", dram)}
	case util >= commUtil && sm < commSM && link >= commLink:
		return Verdict{CommBound, fmt.Sprintf("waits on other GPUs: %.0f%% of SMs active, %.0f GiB/s over links", sm, link/1024)}
	case sm < lightSM:
		return Verdict{Light, fmt.Sprintf("light: %.0f%% of SMs active when a kernel runs %.0f%% of the time", sm, util)}
	case math.IsNaN(sm):
		return Verdict{Working, fmt.Sprintf("a kernel ran %.0f%% of the time; how much of the GPU it used is unknown", util)}
	}
	return Verdict{Working, "working"}
}
