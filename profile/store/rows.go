package store

import (
	"strings"

	"capcli"

	"capcli/profile"
)

// blocks holds rows of all tables.
type blocks [numTables]*block

func newBlocks() (b blocks) {
	for t := range numTables {
		b[t] = newBlock(t)
	}
	return b
}

// rower turns ticks into rows.
type rower struct {
	blocks
	missing       reasonCache[[profile.NumMetrics]profile.Reason]
	hostsMissing  reasonCache[[profile.NumHostMetrics]profile.Reason]
	groupsMissing reasonCache[[profile.NumGroupMetrics]profile.Reason]
}

// reasonCache caches the text of each set of reasons.
type reasonCache[W comparable] map[W]string

// words returns the text of the reasons why, of which all has each, of the metrics called names.
func (c reasonCache[W]) words(why W, all []profile.Reason, names []string) string {
	words, known := c[why]
	if !known {
		if len(c) >= maxKnown {
			clear(c)
		}
		words = missingWords(all, names)
		c[why] = words
	}
	return words
}

func newRower() *rower {
	return &rower{
		newBlocks(),
		reasonCache[[profile.NumMetrics]profile.Reason]{},
		reasonCache[[profile.NumHostMetrics]profile.Reason]{},
		reasonCache[[profile.NumGroupMetrics]profile.Reason]{},
	}
}

func (r *rower) reset() {
	for _, b := range r.blocks {
		b.reset()
	}
}

func (r *rower) tick(t *profile.Tick) {
	b := r.blocks[ticks]
	b.int(tickTS, int64(t.At))
	b.int(tickElapsed, micros(t.Elapsed))
	b.int(tickEvery, micros(t.Every))
	b.int(tickTook, micros(t.Took))
	b.int(tickSamples, int64(len(t.Samples)))
	b.int(tickLooked, int64(capcli.Bit(t.LookedAtProcesses)))
	b.n++
	for i := range t.Samples {
		r.sample(t.At, &t.Samples[i])
	}
	for i := range t.Processes {
		r.process(t.At, &t.Processes[i])
	}
	for i := range t.Events {
		r.event(t.At, &t.Events[i])
	}
	r.surroundings(t)
}

func (r *rower) sample(at profile.Instant, s *profile.Sample) {
	b := r.blocks[samples]
	b.int(sampleTS, int64(at))
	b.device(sampleIndex, s.Device)
	for m := range profile.NumMetrics {
		b.metric(sampleMetrics+int(m), s.Values[m], s.Why[m])
	}
	b.text(sampleMissing, r.missing.words(s.Why, s.Why[:], metricNames))
	b.n++
}

// device adds the columns of d, of which the first is that numbered at.
func (b *block) device(at int, d *profile.Device) {
	at -= sampleIndex
	b.int(at+sampleIndex, int64(d.Index))
	b.text(at+sampleUUID, d.UUID)
	b.text(at+sampleModel, d.Model)
	b.text(at+sampleBus, d.Bus)
	b.text(at+sampleDriver, d.Driver)
	b.text(at+sampleParent, d.Parent)
	b.text(at+sampleProfile, d.Profile)
	b.intOr(at+sampleGI, int64(d.GI), d.GI >= 0)
	b.intOr(at+sampleCI, int64(d.CI), d.CI >= 0)
	b.positive(at+samplePeakMem, d.PeakMemBytesPerS)
	b.positive(at+sampleMaxClock, d.MaxSMClockMHz)
	b.intOr(at+sampleSMs, int64(d.SMs), d.SMs != 0)
	b.positive(at+samplePeakPCIe, d.PeakPCIeMiBPerS)
	b.positive(at+samplePeakNVLink, d.PeakNVLinkMiBPerS)
}

func (b *block) positive(col int, v float64) {
	if v == 0 {
		b.cols[col].AddNull()
		return
	}
	b.cols[col].AddFloat(v)
}

func (b *block) metric(col int, v float64, why profile.Reason) {
	switch {
	case why != profile.Known:
		b.cols[col].AddNull()
	case b.cols[col].Floats != nil:
		b.cols[col].AddFloat(v)
	default:
		b.int(col, int64(v))
	}
}

// Names of the metrics of devices, of the box and of jobs' processes.
var (
	metricNames = metricNamesOf(profile.Metrics[:])
	hostNames   = metricNamesOf(profile.HostMetrics[:])
	groupNames  = metricNamesOf(profile.GroupMetrics[:])
)

func metricNamesOf(all []profile.Describe) (names []string) {
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// processNames are the columns of a process whose value may be missing.
var processNames = []string{"mem_used_bytes", "sm_pct"}

// missingWords returns why figures are missing, as name=reason;name=reason.
func missingWords(why []profile.Reason, names []string) string {
	var b strings.Builder
	for i, r := range why {
		if r == profile.Known {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(names[i] + "=" + r.String())
	}
	return b.String()
}

// reasonsOf parses what missingWords returned into why. It ignores names that are not in names.
func reasonsOf(words string, names []string, why []profile.Reason) {
	for words != "" {
		var one string
		one, words, _ = strings.Cut(words, ";")
		name, reason, _ := strings.Cut(one, "=")
		for i := range names {
			if names[i] == name {
				why[i] = profile.ReasonNamed(reason)
			}
		}
	}
}

func (r *rower) process(at profile.Instant, p *profile.Process) {
	b, d := r.blocks[processes], p.Device
	b.int(procTS, int64(at))
	b.int(procIndex, int64(d.Index))
	b.text(procUUID, d.UUID)
	b.intOr(procGI, int64(d.GI), d.GI >= 0)
	b.intOr(procCI, int64(d.CI), d.CI >= 0)
	b.int(procPID, p.PID)
	b.text(procUser, p.User)
	b.text(procCommand, p.Command)
	b.text(procContainer, p.Container)
	b.text(procPod, p.Pod)
	b.text(procNamespace, p.Namespace)
	b.text(procJob, p.Job)
	b.text(procKind, p.Kind)
	b.intOr(procStart, int64(p.Start)*1_000_000, p.Start.IsKnown())
	b.metric(procMem, p.MemBytes, p.MemWhy)
	b.metric(procSM, p.SMPct, p.SMWhy)
	b.text(procMissing, missingWords([]profile.Reason{p.MemWhy, p.SMWhy}, processNames))
	b.n++
}

func (r *rower) event(at profile.Instant, v *profile.Event) {
	b := r.blocks[events]
	b.int(eventTS, int64(v.At))
	b.int(eventTick, int64(at))
	b.text(eventKind, string(v.Kind))
	b.text(eventDevice, v.Device)
	b.int(eventValue, v.Value)
	b.text(eventText, v.Text)
	b.n++
}
