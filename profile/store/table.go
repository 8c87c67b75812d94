package store

import (
	"cmp"
	"slices"

	"capcli"

	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// table is the kind of a file.
type table uint8

const (
	ticks table = iota
	samples
	processes
	events
	hostTable
	groupTable
	readingTable
	numTables // number of tables of which a segment has rows
)

// The tables of roll-ups, which Compact makes of the others.
const (
	hours table = numTables + iota
	minutes
	toldTable
	allTables
)

// spec describes the files of a table.
type spec struct {
	name    string
	columns []parquet.Column
	docs    []string // description of each column
	key     int      // index of the column with the instant of the tick
	order   []int    // rows of a row group are sorted by these columns, then by key
}

// Indexes of the columns of each table.
const (
	tickTS = iota
	tickElapsed
	tickEvery
	tickTook
	tickSamples
	tickLooked
)

const (
	sampleTS = iota
	sampleIndex
	sampleUUID
	sampleModel
	sampleBus
	sampleDriver
	sampleParent
	sampleProfile
	sampleGI
	sampleCI
	samplePeakMem
	sampleMaxClock
	sampleSMs
	samplePeakPCIe
	samplePeakNVLink
	sampleMetrics
	sampleMissing = sampleMetrics + int(profile.NumMetrics)
)

const (
	procTS = iota
	procIndex
	procUUID
	procGI
	procCI
	procPID
	procUser
	procCommand
	procContainer
	procPod
	procNamespace
	procJob
	procKind
	procStart
	procMem
	procSM
	procMissing
)

const (
	eventTS = iota
	eventTick
	eventKind
	eventDevice
	eventValue
	eventText
)

const (
	hostTS = iota
	hostMetrics
	hostMissing = hostMetrics + int(profile.NumHostMetrics)
)

const (
	groupTS = iota
	groupUser
	groupContainer
	groupPod
	groupNamespace
	groupJob
	groupMetrics
	groupMissing = groupMetrics + int(profile.NumGroupMetrics)
)

const (
	readingTS = iota
	readingUser
	readingContainer
	readingPod
	readingNamespace
	readingJob
	readingUUID
	readingName
	readingValue
)

var specs = func() (s [allTables]spec) {
	s[ticks] = tickSpec()
	s[samples] = sampleSpec()
	s[processes] = processSpec()
	s[events] = eventSpec()
	s[hostTable] = hostSpec()
	s[groupTable] = groupSpec()
	s[readingTable] = readingSpec()
	s[hours] = hourSpec()
	s[minutes] = minuteSpec()
	s[toldTable] = toldSpec()
	return s
}()

func (s *spec) add(at int, doc string, c parquet.Column) {
	if at != len(s.columns) {
		panic("store: column " + c.Name + " is out of place")
	}
	s.columns, s.docs = append(s.columns, c), append(s.docs, doc)
}

func tickSpec() spec {
	s := spec{name: "ticks", key: tickTS}
	count := func(name string) parquet.Column {
		return parquet.Column{Name: name, Kind: parquet.Int64, Packing: parquet.Deltas}
	}
	s.add(tickTS, "instant of the look at the box, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas})
	s.add(tickElapsed, "since sampling began, by a clock that never jumps", count("elapsed_us"))
	s.add(tickEvery, "interval asked for", count("every_us"))
	s.add(tickTook, "how long the look took", count("took_us"))
	s.add(tickSamples, "devices seen", count("samples"))
	s.add(tickLooked, "1 where processes were looked at, else 0", parquet.Column{Name: "looked_at_processes", Kind: parquet.Int32})
	return s
}

// word is a column of texts that repeat.
func word(name string, nullable bool) parquet.Column {
	return parquet.Column{Name: name, Kind: parquet.Text, Nullable: nullable, Repeats: true}
}

func intColumn(name string, nullable bool) parquet.Column {
	return parquet.Column{Name: name, Kind: parquet.Int32, Nullable: nullable, Repeats: true}
}

func sampleSpec() spec {
	s := spec{name: "samples", key: sampleTS, order: []int{sampleIndex, sampleGI, sampleCI, sampleUUID}}
	s.add(sampleTS, "instant of the tick, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas})
	s.add(sampleIndex, "the driver's number of the GPU", intColumn("gpu_index", false))
	s.add(sampleUUID, "of the GPU, or of the MIG instance", word("gpu_uuid", false))
	s.add(sampleModel, "name of the GPU's model", word("gpu_model", true))
	s.add(sampleBus, "PCI address", word("pci_bus", true))
	s.add(sampleDriver, "version of the driver", word("driver", true))
	s.add(sampleParent, "of a MIG instance: uuid of the GPU that holds it", word("mig_parent_uuid", true))
	s.add(sampleProfile, "of a MIG instance: its profile", word("mig_profile", true))
	s.add(sampleGI, "of a MIG instance: its GPU instance", intColumn("mig_gi", true))
	s.add(sampleCI, "of a MIG instance: its compute instance", intColumn("mig_ci", true))
	s.add(samplePeakMem, "peak bandwidth of device memory", parquet.Column{Name: "peak_mem_bytes_per_s", Kind: parquet.Float64, Nullable: true, Repeats: true})
	s.add(sampleMaxClock, "highest clock of the SMs", parquet.Column{Name: "max_clock_sm_mhz", Kind: parquet.Float64, Nullable: true, Repeats: true})
	s.add(sampleSMs, "streaming multiprocessors", intColumn("sms", true))
	s.add(samplePeakPCIe, "what PCIe carries at most in one direction", parquet.Column{Name: "peak_pcie_mib_s", Kind: parquet.Float64, Nullable: true, Repeats: true})
	s.add(samplePeakNVLink, "what all NVLinks carry at most in one direction", parquet.Column{Name: "peak_nvlink_mib_s", Kind: parquet.Float64, Nullable: true, Repeats: true})
	for m := range profile.NumMetrics {
		s.add(sampleMetrics+int(m), profile.Metrics[m].Doc, metricColumn(m))
	}
	s.add(sampleMissing, "why metrics are null, as name=reason;name=reason", word("missing", true))
	return s
}

// metricColumn returns the column of a metric, in the layout that came out smallest
// (docs/measurements.md, Profiles): fractions in single precision with their bytes split,
// drifting values as differences, steady values in a dictionary.
func metricColumn(m profile.Metric) parquet.Column {
	c := parquet.Column{Name: profile.Metrics[m].Name, Kind: parquet.Int64, Nullable: true}
	switch m {
	case profile.Energy, profile.Temp, profile.MemTemp, profile.NVLinkTx, profile.NVLinkRx,
		profile.ECCCorrected, profile.ECCUncorrected, profile.ThrottlePower, profile.ThrottleThermal, profile.PCIeReplays,
		profile.NVLinkErrors, profile.RowsRemapped:
		c.Packing = parquet.Deltas
	case profile.PowerLimit, profile.ClockSM, profile.ClockMem, profile.PState, profile.Throttle, profile.MemTotal, profile.MemReserved,
		profile.RowsPending:
		c.Repeats = true
	default:
	}
	if profile.Metrics[m].Step < 1 {
		c.Kind, c.Packing, c.Repeats = parquet.Float32, parquet.Split, false
	}
	return c
}

func processSpec() spec {
	s := spec{name: "processes", key: procTS, order: []int{procIndex, procUUID, procPID, procKind, procStart}}
	s.add(procTS, "instant of the tick, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas})
	s.add(procIndex, "the driver's number of the GPU", intColumn("gpu_index", false))
	s.add(procUUID, "of the GPU, or of the MIG instance", word("gpu_uuid", false))
	s.add(procGI, "of a MIG instance: its GPU instance", intColumn("mig_gi", true))
	s.add(procCI, "of a MIG instance: its compute instance", intColumn("mig_ci", true))
	s.add(procPID, "in the namespace of the host", parquet.Column{Name: "pid", Kind: parquet.Int64, Repeats: true})
	s.add(procUser, "name of the user", word("user", true))
	s.add(procCommand, "program and its first arguments", word("command", true))
	s.add(procContainer, "id of the container", word("container", true))
	s.add(procPod, "Kubernetes pod", word("pod", true))
	s.add(procNamespace, "Kubernetes namespace", word("namespace", true))
	s.add(procJob, "Slurm job", word("job", true))
	s.add(procKind, "compute, graphics or mps", word("kind", true))
	s.add(procStart, "when the process began, UTC", parquet.Column{Name: "started", Kind: parquet.Instant, Nullable: true, Repeats: true})
	s.add(procMem, "device memory that it holds", parquet.Column{Name: "mem_used_bytes", Kind: parquet.Int64, Nullable: true, Packing: parquet.Deltas})
	s.add(procSM, "share of the device's SM time since the last look", parquet.Column{Name: "sm_pct", Kind: parquet.Float32, Nullable: true, Packing: parquet.Split})
	s.add(procMissing, "why figures are null, as name=reason;name=reason", word("missing", true))
	return s
}

func eventSpec() spec {
	s := spec{name: "events", key: eventTick}
	s.add(eventTS, "when it befell, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant})
	s.add(eventTick, "instant of the tick that told it, UTC", parquet.Column{Name: "tick_ts", Kind: parquet.Instant})
	s.add(eventKind, "what befell", word("event", false))
	s.add(eventDevice, "gpu_uuid of the device; null is all", word("gpu_uuid", true))
	s.add(eventValue, "as the event has it: microseconds, bytes, an Xid", parquet.Column{Name: "value", Kind: parquet.Int64})
	s.add(eventText, "in words", parquet.Column{Name: "text", Kind: parquet.Text, Nullable: true})
	return s
}

// block holds rows of a table, by column.
type block struct {
	*spec
	n    int
	cols []parquet.Vector
}

func newBlock(t table) *block {
	b := &block{spec: &specs[t]}
	for _, c := range b.columns {
		b.cols = append(b.cols, parquet.NewVector(c.Kind, 0))
	}
	return b
}

func (b *block) reset() {
	b.n = 0
	for i := range b.cols {
		b.cols[i].Resize(0)
	}
}

// keys returns the instant of the tick of each row.
func (b *block) keys() []int64 { return b.cols[b.key].Ints }

func (b *block) int(col int, v int64) { b.cols[col].AddInt(v) }

// text adds a text; an empty text is null in a nullable column.
func (b *block) text(col int, s string) {
	c := &b.cols[col]
	c.AddText(s)
	c.Null[c.Len()-1] = s == "" && b.columns[col].Nullable
}

// intOr adds v, or null where it is not known.
func (b *block) intOr(col int, v int64, known bool) {
	if known {
		b.cols[col].AddInt(v)
	} else {
		b.cols[col].AddNull()
	}
}

// rows appends the rows of from with the numbers in pick; a nil pick is all rows.
func (b *block) rows(from *block, pick []int32) {
	for i := range b.cols {
		to, at := &b.cols[i], &from.cols[i]
		to.Null = appendRows(to.Null, at.Null, pick)
		to.Ints = appendRows(to.Ints, at.Ints, pick)
		to.Floats = appendRows(to.Floats, at.Floats, pick)
		to.Texts = appendRows(to.Texts, at.Texts, pick)
	}
	if pick == nil {
		b.n += from.n
	} else {
		b.n += len(pick)
	}
}

func appendRows[T any](to, from []T, pick []int32) []T {
	if from == nil || pick == nil {
		return append(to, from...)
	}
	for _, k := range pick {
		to = append(to, from[k])
	}
	return to
}

// compareCell compares two cells of a column; null is least.
func (b *block) compareCell(col int, i, j int32) int {
	c := &b.cols[col]
	switch {
	case c.Null[i] || c.Null[j]:
		return cmp.Compare(capcli.Bit(c.Null[j]), capcli.Bit(c.Null[i]))
	case c.Texts != nil:
		return cmp.Compare(c.Texts[i], c.Texts[j])
	case c.Floats != nil:
		return cmp.Compare(c.Floats[i], c.Floats[j])
	}
	return cmp.Compare(c.Ints[i], c.Ints[j])
}

// compareKind compares two rows by the order columns of the table.
func (b *block) compareKind(i, j int32) int {
	for _, col := range b.order {
		if c := b.compareCell(col, i, j); c != 0 {
			return c
		}
	}
	return 0
}

func (b *block) allRows() []int32 {
	rows := make([]int32, b.n)
	for k := range rows {
		rows[k] = int32(k)
	}
	return rows
}

// sortByTime sorts rows by time, then by the order columns of the table.
func (b *block) sortByTime(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := cmp.Compare(keys[i], keys[j]); c != 0 {
			return c
		}
		return b.compareKind(i, j)
	})
}

// sortByKind sorts rows in the order of a file: by the order columns of the table, then by time.
func (b *block) sortByKind(rows []int32) {
	keys := b.keys()
	slices.SortStableFunc(rows, func(i, j int32) int {
		if c := b.compareKind(i, j); c != 0 {
			return c
		}
		return cmp.Compare(keys[i], keys[j])
	})
}
