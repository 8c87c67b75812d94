package profile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
)

func init() {
	Sources.Add("smi", "nvidia-smi, where the library cannot be linked; or a file of its CSV", func(o SourceOptions) (Source, error) {
		return newSMI(o)
	})
}

// smiField says what a column of nvidia-smi is to us.
type smiField struct {
	metric Metric
	scale  float64
}

// smiFields are the columns that are metrics, by the names of nvidia-smi
// --help-query-gpu, without their unit.
var smiFields = map[string]smiField{
	"utilization.gpu":                       {UtilGPU, 1},
	"utilization.memory":                    {UtilMem, 1},
	"utilization.encoder":                   {UtilEnc, 1},
	"utilization.decoder":                   {UtilDec, 1},
	"memory.used":                           {MemUsed, mib},
	"memory.reserved":                       {MemReserved, mib},
	"memory.total":                          {MemTotal, mib},
	"power.draw":                            {Power, 1},
	"enforced.power.limit":                  {PowerLimit, 1},
	"power.limit":                           {PowerLimit, 1},
	"temperature.gpu":                       {Temp, 1},
	"temperature.memory":                    {MemTemp, 1},
	"clocks.current.sm":                     {ClockSM, 1},
	"clocks.sm":                             {ClockSM, 1},
	"clocks.current.memory":                 {ClockMem, 1},
	"clocks.mem":                            {ClockMem, 1},
	"pstate":                                {PState, 1},
	"clocks_throttle_reasons.active":        {Throttle, 1},
	"clocks_event_reasons.active":           {Throttle, 1},
	"fan.speed":                             {Fan, 1},
	"ecc.errors.corrected.volatile.total":   {ECCCorrected, 1},
	"ecc.errors.uncorrected.volatile.total": {ECCUncorrected, 1},
	"remapped_rows.pending":                 {RowsPending, 1},
}

// smiSums are the columns of which several add up to a metric. The times are in microseconds.
var smiSums = map[string]smiField{
	"clocks_event_reasons_counters.sw_power_cap":            {ThrottlePower, 1e-3},
	"clocks_event_reasons_counters.hw_power_brake_slowdown": {ThrottlePower, 1e-3},
	"clocks_event_reasons_counters.sw_thermal_slowdown":     {ThrottleThermal, 1e-3},
	"clocks_event_reasons_counters.hw_thermal_slowdown":     {ThrottleThermal, 1e-3},
	"remapped_rows.correctable":                             {RowsRemapped, 1},
	"remapped_rows.uncorrectable":                           {RowsRemapped, 1},
}

// What nvidia-smi is asked. The longer list is refused by old drivers, which
// name a column that they do not know.
const (
	smiShort = "timestamp,index,uuid,name,pci.bus_id,driver_version,utilization.gpu,utilization.memory,memory.used,memory.total," +
		"power.draw,enforced.power.limit,temperature.gpu,clocks.sm,clocks.mem,pstate,fan.speed," +
		"ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total"
	smiLong = smiShort + ",memory.reserved,temperature.memory,clocks_event_reasons.active,utilization.encoder,utilization.decoder"
	smiNew  = smiLong + ",pcie.link.gen.max,pcie.link.width.max,clocks_event_reasons_counters.sw_power_cap," +
		"clocks_event_reasons_counters.hw_power_brake_slowdown,clocks_event_reasons_counters.sw_thermal_slowdown,clocks_event_reasons_counters.hw_thermal_slowdown"
	smiApps = "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv,nounits"
)

// smiSource asks nvidia-smi, or reads what it told a file.
type smiSource struct {
	o       SourceOptions
	query   string
	devices map[string]*Device
	there   []*Device // that answered last
	known   []*Device // that were ever listed
	looked  Instant
	file    *smiTable // of a recording
	closer  io.Closer
	ahead   Tick // the first row of the next tick of a recording
	have    bool
	every   time.Duration // of a recording; 0 is not known yet
}

func newSMI(o SourceOptions) (*smiSource, error) {
	if o.Fetch == nil {
		return nil, errors.New("the source smi cannot be opened here")
	}
	s := &smiSource{o: o, devices: map[string]*Device{}}
	if o.Where != "" {
		return s, s.openFile()
	}
	var failed error
	for _, columns := range []string{smiNew, smiLong, smiShort} {
		s.query = "--query-gpu=" + columns + " --format=csv,nounits"
		var t Tick
		if failed = s.Read(context.Background(), &t); failed == nil {
			s.looked = 0
			return s, nil
		}
	}
	return nil, fmt.Errorf("nvidia-smi does not answer: %w", failed)
}

func (s *smiSource) openFile() error {
	in, err := s.o.Fetch(context.Background(), s.o.Where)
	if err != nil {
		return err
	}
	s.closer = in
	if s.file, err = newSMITable(s.o.Where, in); err != nil {
		return errors.Join(err, in.Close())
	}
	if !slices.Contains(s.file.names, "timestamp") {
		err := &capcli.InputError{File: s.o.Where, Line: 1, Text: "expected a column timestamp, found none", Hint: "record with nvidia-smi --query-gpu=timestamp,uuid,utilization.gpu,… --format=csv -l 1"}
		return errors.Join(err, in.Close())
	}
	return nil
}

// Host is not told by nvidia-smi.
func (s *smiSource) Host() string { return "" }

// Recorded tells whether a file is read.
func (s *smiSource) Recorded() bool { return s.file != nil }

// Close closes a recording.
func (s *smiSource) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Read asks once, or reads the next tick of a recording.
func (s *smiSource) Read(ctx context.Context, t *Tick) error {
	if s.file != nil {
		return s.readFile(t)
	}
	err := s.eachRow(ctx, s.query, func(row *smiTable) error { return s.sample(row, t) })
	if err == nil && len(t.Samples) == 0 {
		err = errors.New("nvidia-smi lists no GPU")
	}
	if err == nil {
		s.tellChanges(t)
	}
	if err != nil || s.o.Processes == 0 || s.looked != 0 && t.At.Sub(s.looked) < s.o.Processes {
		return err
	}
	s.looked, t.LookedAtProcesses = t.At, true
	return s.eachRow(ctx, smiApps, func(row *smiTable) error { return s.app(row, t) })
}

// tellChanges adds events of the GPUs that came and went since the last answer.
func (s *smiSource) tellChanges(t *Tick) {
	for _, d := range s.there {
		if !slices.ContainsFunc(t.Samples, func(x Sample) bool { return x.Device == d && x.Answered() }) {
			t.Events = append(t.Events, Event{At: t.At, Kind: GPULost, Device: d.UUID, Text: "nvidia-smi does not tell of the GPU any more"})
		}
	}
	for i := range t.Samples {
		d := t.Samples[i].Device
		if s.known == nil || slices.Contains(s.there, d) || !t.Samples[i].Answered() {
			continue
		}
		text := "a GPU that was not there before"
		if slices.Contains(s.known, d) {
			text = "the GPU is there again"
		}
		t.Events = append(t.Events, Event{At: t.At, Kind: GPUBack, Device: d.UUID, Text: text})
	}
	s.there = s.there[:0]
	for i := range t.Samples {
		d := t.Samples[i].Device
		if t.Samples[i].Answered() {
			s.there = append(s.there, d)
		}
		if !slices.Contains(s.known, d) {
			s.known = append(s.known, d)
		}
	}
}

// eachRow asks nvidia-smi and calls use with the table at each row.
func (s *smiSource) eachRow(ctx context.Context, what string, use func(*smiTable) error) error {
	in, err := s.o.Fetch(ctx, what)
	if err != nil {
		return err
	}
	table, err := newSMITable("nvidia-smi", in)
	for err == nil {
		if err = table.nextRow(); err == nil {
			err = use(table)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, in.Close())
}

// readFile reads the next tick of a recording. The interval is the shortest time between two ticks so far.
func (s *smiSource) readFile(t *Tick) error {
	if err := s.readRows(t); err != nil {
		return err
	}
	if s.have {
		if d := s.ahead.At.Sub(t.At); d > 0 && (s.every == 0 || d < s.every) {
			s.every = d
		}
	}
	t.Every = s.every
	return nil
}

func (s *smiSource) readRows(t *Tick) error {
	if s.have {
		s.have = false
		at := s.ahead.At
		t.At = at
		*t.NextSample(s.ahead.Samples[0].Device) = s.ahead.Samples[0]
	}
	for {
		switch err := s.file.nextRow(); {
		case errors.Is(err, io.EOF) && len(t.Samples) > 0:
			return nil
		case err != nil:
			return err
		}
		at, err := s.file.time(s.o.Zone)
		if err != nil {
			return err
		}
		// The rows of one look are some milliseconds apart; a GPU comes once in each.
		s.ahead.Reset()
		s.ahead.At = at
		if err := s.sample(s.file, &s.ahead); err != nil {
			return err
		}
		if len(t.Samples) == 0 {
			t.At = at
		} else if d := s.ahead.Samples[0].Device; at.Sub(t.At) > 500*time.Millisecond || slices.ContainsFunc(t.Samples, func(x Sample) bool { return x.Device == d }) {
			s.have = true
			return nil
		}
		*t.NextSample(s.ahead.Samples[0].Device) = s.ahead.Samples[0]
	}
}

// sample enters the row that the table stands at.
func (s *smiSource) sample(table *smiTable, t *Tick) error {
	uuid := cmp.Or(table.text("uuid"), table.text("gpu_uuid"), "index-"+table.text("index"))
	d := s.devices[uuid]
	if d == nil {
		d = &Device{UUID: uuid, Model: table.text("name"), Bus: table.text("pci.bus_id"), Driver: table.text("driver_version"), GI: -1, CI: -1}
		d.Index, _ = strconv.Atoi(table.text("index"))
		generation, _ := strconv.Atoi(table.text("pcie.link.gen.max")) // 0 where it is not told
		width, _ := strconv.Atoi(table.text("pcie.link.width.max"))
		d.PeakPCIeMiBPerS = PCIeMiBPerS(generation, width)
		s.devices[uuid] = d
	}
	one, lost := t.NextSample(d), false
	one.Clear(Unsupported)
	for i, name := range table.names {
		f, ok := smiFields[name]
		part, adds := smiSums[name]
		if adds {
			f = part
		}
		if !adds && (!ok || one.Why[f.metric] == Known) {
			continue
		}
		v, why, err := smiValue(table.row[i])
		switch {
		case err != nil:
			return table.fault(name, err.Error())
		case why != Known && adds: // the other columns may tell
		case why != Known:
			one.Miss(f.metric, why)
			lost = lost || why == Lost
		case Metrics[f.metric].Unit == "%" && f.metric != Fan && v > 100:
			one.Miss(f.metric, OutOfRange)
		default:
			if v *= f.scale; adds {
				v += one.Values[f.metric]
			}
			one.Set(f.metric, v)
		}
	}
	if lost && !slices.Contains(one.Why[:], Known) {
		one.Clear(Lost)
	}
	return nil
}

// app enters the process that the table stands at.
func (s *smiSource) app(table *smiTable, t *Tick) error {
	d := s.devices[table.text("gpu_uuid")]
	pid, err := strconv.ParseInt(table.text("pid"), 10, 64)
	if d == nil || err != nil {
		return nil // a GPU that came since, or "[N/A]"
	}
	p := Process{Device: d, PID: pid, Command: table.text("process_name"), Kind: "compute", SMWhy: Unsupported, Start: capcli.NoTime}
	v, why, err := smiValue(cmp.Or(table.text("used_gpu_memory"), table.text("used_memory")))
	if err != nil {
		return table.fault("used_gpu_memory", err.Error())
	}
	p.MemBytes, p.MemWhy = v*mib, why
	t.Processes = append(t.Processes, p)
	return nil
}

// smiValue reads a value, with or without its unit.
func smiValue(text string) (float64, Reason, error) {
	text = strings.TrimSpace(text)
	plain := strings.ToLower(strings.Trim(text, "[]"))
	switch {
	case plain == "n/a" || plain == "not supported" || plain == "requested functionality has been deprecated" || plain == "":
		return 0, Unsupported, nil
	case strings.Contains(plain, "permission"):
		return 0, NoPermission, nil
	case strings.Contains(plain, "lost"):
		return 0, Lost, nil
	case strings.HasPrefix(plain, "unknown error") || strings.HasPrefix(plain, "gpu requires reset"):
		return 0, Failed, nil
	case plain == "yes":
		return 1, Known, nil
	case plain == "no":
		return 0, Known, nil
	case strings.HasPrefix(plain, "0x"):
		v, err := strconv.ParseUint(plain[2:], 16, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("expected bits such as 0x0000000000000001, found %.40q", text)
		}
		return float64(v), Known, nil
	case len(plain) > 1 && plain[0] == 'p':
		plain = plain[1:] // P0
	}
	number, _, _ := strings.Cut(plain, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, 0, fmt.Errorf("expected a number, found %.40q", text)
	}
	return v, Known, nil
}

// smiTable is CSV of nvidia-smi: a header with units, then rows.
type smiTable struct {
	name  string
	csv   *csv.Reader
	names []string
	row   []string
}

func newSMITable(name string, r io.Reader) (*smiTable, error) {
	t := &smiTable{name: name, csv: csv.NewReader(bufio.NewReader(&lineLimit{r: r}))}
	t.csv.TrimLeadingSpace, t.csv.ReuseRecord, t.csv.FieldsPerRecord, t.csv.LazyQuotes = true, true, -1, true
	head, err := t.csv.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("expected the header of nvidia-smi's CSV, found nothing")
		}
		return nil, &capcli.InputError{File: name, Line: 1, Text: err.Error(), Hint: "give --format=csv, with its header"}
	}
	for _, h := range head {
		h, _, _ = strings.Cut(h, " [") // its unit
		t.names = append(t.names, strings.TrimSpace(h))
	}
	return t, nil
}

func (t *smiTable) nextRow() error {
	row, err := t.csv.Read()
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return t.fault("", err.Error())
	case len(row) != len(t.names):
		return t.fault("", fmt.Sprintf("expected %d columns, found %d", len(t.names), len(row)))
	}
	t.row = row
	return nil
}

func (t *smiTable) fault(field, text string) error {
	line, _ := t.csv.FieldPos(0)
	return &capcli.InputError{File: t.name, Line: line, Field: field, Text: text, Hint: "expected CSV as nvidia-smi --query-gpu=… --format=csv gives it"}
}

// text gives a cell, "" where there is none.
func (t *smiTable) text(name string) string {
	i := slices.Index(t.names, name)
	if i < 0 {
		return ""
	}
	return strings.Clone(strings.TrimSpace(t.row[i])) // the row is used again
}

// time reads the row's timestamp, which has no zone.
func (t *smiTable) time(zone *time.Location) (Instant, error) {
	text := t.text("timestamp")
	if zone == nil {
		return 0, t.fault("timestamp", fmt.Sprintf("the time %q has no zone", text))
	}
	at, err := time.ParseInLocation("2006/01/02 15:04:05.000", text, zone)
	if err != nil {
		return 0, t.fault("timestamp", fmt.Sprintf("expected a time such as 2026/11/20 14:03:05.123, found %.40q", text))
	}
	return InstantOf(at), nil
}

// lineLimit fails where a line does not end, before it fills the memory.
type lineLimit struct {
	r    io.Reader
	line int
}

func (l *lineLimit) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for _, c := range p[:n] {
		if l.line++; c == '\n' {
			l.line = 0
		}
	}
	if l.line > maxExpositionLine {
		return 0, fmt.Errorf("line is longer than %d bytes", maxExpositionLine)
	}
	return n, err
}
