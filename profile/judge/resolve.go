package judge

import "slices"

// Job is what is known of the job that held a device.
type Job struct {
	Devices, Hosts int // at once; 0 is not known
	Work           WorkKind
	Rhythm         Rhythm
	// LongPauses are pauses between bursts that took whole minutes, in microseconds; the minutes show
	// no work.
	LongPauses int64
}

// stuckLeast is the time of a hang that cannot be a barrier that waits for a checkpoint, in
// microseconds. A rank that saves a checkpoint lets the others spin for minutes.
const stuckLeast = 300_000_000

// Resolve turns signs into findings, in order of Descriptions.
func Resolve(t Tally, j *Job) []Found {
	var out []Found
	s := t.Spells()
	serves := j.Work == Inference && float64(t.lostTime(SignIdle)) < (1-neverShare)*float64(t.Total())
	for i := range s {
		k, most := s[i].meaning(j)
		if serves && s[i].Sign == SignIdle { // a server without requests is no GPU that somebody forgot
			k = Light
		}
		if k == Stuck && s[i].Time < stuckLeast {
			most = Low
		}
		p := findKind(&out, k)
		p.Time, p.Lost = p.Time+s[i].Time, p.Lost+s[i].Lost
		p.Points += min(s[i].Points, int64(most)*s[i].Time)
		mergeData(&p.Data, &s[i].Data)
	}
	return j.movePauses(out)
}

// movePauses moves idle minutes that lie between bursts to the finding of pauses.
func (j *Job) movePauses(out []Found) []Found {
	idle := findKind(&out, Idle)
	moved := min(j.LongPauses, idle.Time)
	if j.Work == UnknownWork || j.Work == "" {
		if tells := j.Rhythm.Bursts >= leastBursts; !tells || j.Rhythm.Variation() > unevenCV {
			moved = 0 // nothing tells that it is input that they wait for
		}
	}
	points := int64(0)
	if idle.Time > 0 {
		points = int64(float64(idle.Points) * float64(moved) / float64(idle.Time))
	}
	idle.Time, idle.Lost, idle.Points = idle.Time-moved, max(0, idle.Lost-moved), idle.Points-points
	if moved > 0 {
		k, most := j.pauses()
		p := findKind(&out, k)
		p.Time, p.Lost, p.Points = p.Time+moved, p.Lost+moved, p.Points+min(points, int64(most)*moved)
	}
	return slices.DeleteFunc(out, func(f Found) bool { return f.Kind == Idle && f.Time == 0 })
}

// pauses says what pauses between bursts mean that show no reason. Training has a rhythm; requests
// come by chance.
func (j *Job) pauses() (Kind, Confidence) {
	tells := j.Rhythm.Bursts >= leastBursts
	uneven := tells && j.Rhythm.Variation() > unevenCV
	switch {
	case j.Work == Inference:
		return Light, High
	case j.Work == Interactive:
		return Idle, Medium
	case j.Work == Training || j.Work == FineTuning:
		if uneven {
			return Starved, Low
		}
		return Starved, Medium
	case uneven:
		return Light, Medium
	case tells:
		return Starved, Medium
	}
	return Starved, Low
}

// mean returns the mean of a datum of the spell; 0 where it was not measured. Measured tells.
func (p *Spell) mean(d Datum) (v float64, measured bool) {
	if p.Data[d].Millis == 0 {
		return 0, false
	}
	return float64(p.Data[d].Sum) / d.parts() / float64(p.Data[d].Millis), true
}

// plainKinds are the signs that mean the same for any job.
var plainKinds = map[Sign]Kind{
	SignIdle: Idle, SignStuck: Stuck, SignSmall: SmallKernels, SignHeat: ThermalCap, SignPower: PowerCap, SignMemory: MemoryBound,
	SignCompute: ComputeBound, SignLight: Light, SignWork: Working, SignUnknown: Unknown,
}

// meaning returns the kind that a sign means for the job, and the highest confidence that it may have.
func (p *Spell) meaning(j *Job) (Kind, Confidence) {
	if k, ok := plainKinds[p.Sign]; ok {
		return k, High
	}
	serves := j.Work == Inference
	switch p.Sign {
	case SignIdleTraffic:
		return p.idleTraffic(j)
	case SignPausedInput:
		if serves {
			return Light, Medium
		}
		return Starved, High
	case SignPaused:
		return j.pauses()
	case SignGaps:
		if j.Work == Training || j.Work == FineTuning {
			if wait, _ := p.mean(DatumWait); wait >= inputWait {
				return Starved, Medium
			}
			return Starved, Low
		}
		return Light, Medium
	default: // SMs wait while links are at work
		return p.transfers(j)
	}
}

// idleTraffic is time without kernels in which data moved: no GPU to give back.
func (p *Spell) idleTraffic(j *Job) (Kind, Confidence) {
	net, _ := p.mean(DatumNet)
	tx, _ := p.mean(DatumPCIeTx)
	rx, _ := p.mean(DatumPCIeRx)
	switch {
	case max(tx, rx) >= pcieWaitsMiB/2:
		return HostTransfer, Low
	case net >= netWaits && j.Hosts > 1:
		return CommBetween, Low
	}
	return Idle, Low
}

// transfers says on what SMs wait while links are at work.
func (p *Spell) transfers(j *Job) (Kind, Confidence) {
	nvlink, hasNVLink := p.mean(DatumNVLink)
	net, hasNet := p.mean(DatumNet)
	byNVLink := nvlink >= nvlinkWaits*usualNVLink
	alone := j.Devices == 1 && j.Hosts == 1
	switch {
	case p.Sign == SignNVLink:
		return CommInNode, High
	case p.Sign == SignNetwork && j.Hosts > 1:
		return CommBetween, High
	case p.Sign == SignNetwork && j.Hosts == 0:
		return CommBetween, Medium
	case j.Hosts > 1 && !hasNet && p.Sign == SignPCIeEven:
		return CommBetween, Medium
	case byNVLink:
		return CommInNode, Medium
	case alone:
		return HostTransfer, High
	case j.Hosts > 1 && (!hasNet || net >= netWaits):
		return CommBetween, Low
	case p.Sign == SignPCIeOneWay:
		return HostTransfer, Medium
	case j.Devices == 0:
		return CommBound, Low
	case hasNVLink || j.Devices == 1:
		return HostTransfer, Medium
	}
	return CommInNode, Low // peers over PCIe, or the host
}
