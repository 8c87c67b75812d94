package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"capcli"
	"capcli/profile"
)

// Track is the activity of one GPU over time, in columns of equal length. Its JSON is the
// document capcli/profile_show/v1.
type Track struct {
	Host     string
	Device   *profile.Device
	From, To profile.Instant // instants of the first and the last sample shown
	Every    time.Duration   // interval between samples
	Share    int64           // samples due in one column
	Starts   []profile.Instant
	Samples  []int64 // samples found in each column
	Lines    []TrackLine
}

// TrackLine is a metric of a Track: its mean and its highest value in each column; NaN where the
// column has no value.
type TrackLine struct {
	Title, Name string
	Top         float64 // top of the scale; 0 means the highest value
	Mean, Max   []float64
	Known       bool // at least one column has a value

	metric profile.Metric
	scale  float64
}

// trackLines returns a line, still empty, for each metric shown.
func trackLines() []TrackLine {
	return []TrackLine{
		{metric: profile.UtilGPU, Title: "busy %", Name: "util_gpu_pct", scale: 1, Top: 100},
		{metric: profile.SMActive, Title: "SM active %", Name: "sm_active_pct", scale: 1, Top: 100},
		{metric: profile.TensorActive, Title: "tensor active %", Name: "tensor_active_pct", scale: 1, Top: 100},
		{metric: profile.MemUsed, Title: "memory GiB", Name: "mem_used_gib", scale: 1.0 / (1 << 30)},
		{metric: profile.Power, Title: "power W", Name: "power_w", scale: 1},
	}
}

// TrackRequest selects the GPU, the time and the resolution of a Track.
type TrackRequest struct {
	GPU     string        // index or UUID
	Query   Query         // time and hosts; its Devices are ignored
	Last    time.Duration // length of time up to the last sample; 0 is all
	Columns int           // largest number of columns
}

// ReadTrack reads the track of a GPU from folders. It fails with *capcli.InputError where
// r selects no GPU, or more than one.
func ReadTrack(ctx context.Context, folders *Folders, r TrackRequest) (*Track, error) {
	t := &Track{Lines: trackLines()}
	if err := t.find(ctx, folders, &r); err != nil {
		return nil, err
	}
	if r.Last > 0 {
		t.From = max(t.From, t.To.Add(t.Every-max(r.Last, t.Every)))
	}
	return t, t.read(ctx, folders, &r)
}

// eachSample calls use with every sample of the requested GPU that q selects.
func (r *TrackRequest) eachSample(ctx context.Context, folders *Folders, q Query, use func(t HostTick, s *profile.Sample)) error {
	index, err := strconv.Atoi(r.GPU)
	byIndex := err == nil
	q.Devices, q.SamplesOnly = nil, true
	for t, err := range folders.Ticks(q) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		for i := range t.Samples {
			s := &t.Samples[i]
			if byIndex && s.Device.Index == index || s.Device.UUID == r.GPU {
				use(t, s)
			}
		}
	}
	return nil
}

// find sets the GPU of t, the instants of its first and last sample, and the interval.
func (t *Track) find(ctx context.Context, folders *Folders, r *TrackRequest) error {
	var found []string
	err := r.eachSample(ctx, folders, r.Query, func(tick HostTick, s *profile.Sample) {
		name := s.Device.UUID + " of " + tick.Host
		if !slices.Contains(found, name) && len(found) < 100 {
			found = append(found, name)
		}
		if t.Device == nil {
			t.Host, t.Device, t.From = tick.Host, s.Device, tick.At
		}
		t.To, t.Every = tick.At, tick.Every
	})
	if t.Every <= 0 {
		t.Every = time.Second
	}
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &capcli.InputError{File: folders.all[0].Name, Field: "gpu", Text: fmt.Sprintf("expected samples of GPU %s, found none", r.GPU), Hint: "which there are: capcli profile summary " + folders.all[0].Name}
	case len(found) > 1:
		return &capcli.InputError{File: folders.all[0].Name, Field: "gpu", Text: fmt.Sprintf("expected one GPU, found %d: %s", len(found), names(found, 5)), Hint: "choose with --host, or a UUID with --gpu"}
	}
	return nil
}

// read fills the columns. Each has the same number of due samples.
func (t *Track) read(ctx context.Context, folders *Folders, r *TrackRequest) error {
	slots := t.intervalsBefore(t.From) + 1
	t.Share = (slots + int64(r.Columns) - 1) / int64(r.Columns)
	n := int((slots + t.Share - 1) / t.Share)
	t.Samples = make([]int64, n)
	for i := range n {
		t.Starts = append(t.Starts, t.To.Add(-time.Duration(slots-1-int64(i)*t.Share)*t.Every))
	}
	counts := make([][]int64, len(t.Lines))
	for k := range t.Lines {
		counts[k], t.Lines[k].Mean, t.Lines[k].Max = make([]int64, n), make([]float64, n), make([]float64, n)
	}
	q := r.Query
	q.From, q.To, q.Hosts = t.From.Add(-t.Every/2), t.To+1, []string{t.Host}
	err := r.eachSample(ctx, folders, q, func(tick HostTick, s *profile.Sample) {
		slot := slots - 1 - t.intervalsBefore(tick.At)
		if slot < 0 {
			return
		}
		i := slot / t.Share
		t.Samples[i]++
		for k := range t.Lines {
			l := &t.Lines[k]
			if v, ok := s.Get(l.metric); ok {
				counts[k][i]++
				l.Mean[i], l.Max[i] = l.Mean[i]+v*l.scale, max(l.Max[i], v*l.scale)
			}
		}
	})
	for k := range t.Lines {
		l := &t.Lines[k]
		for i, count := range counts[k] {
			if l.Mean[i] /= float64(count); count == 0 {
				l.Mean[i], l.Max[i] = math.NaN(), math.NaN()
			}
			l.Known = l.Known || count > 0
		}
	}
	return err
}

// intervalsBefore returns the number of intervals from at to the last sample, rounded.
func (t *Track) intervalsBefore(at profile.Instant) int64 {
	return int64(math.Round(float64(t.To-at) / float64(t.Every.Microseconds())))
}

// TrackDocument is the document capcli/profile_show/v1, as which a Track is written.
type TrackDocument struct {
	Schema string           `json:"schema"`
	Host   string           `json:"host"`
	GPU    int              `json:"gpu"`
	UUID   string           `json:"gpu_uuid"`
	Model  string           `json:"gpu_model"`
	From   string           `json:"from"`    // first sample shown
	To     string           `json:"to"`      // last sample shown
	EveryS float64          `json:"every_s"` // seconds between samples
	Rows   []map[string]any `json:"samples"` // one object for each column
}

// MarshalJSON writes each column of the track as one object of an array.
func (t *Track) MarshalJSON() ([]byte, error) {
	rows := make([]map[string]any, len(t.Starts))
	for i, start := range t.Starts {
		rows[i] = map[string]any{"from": start.Stamp(), "samples": t.Samples[i]}
		for _, l := range t.Lines {
			rows[i][l.Name+"_mean"], rows[i][l.Name+"_max"] = capcli.Figure(l.Mean[i]), capcli.Figure(l.Max[i])
		}
	}
	return json.Marshal(TrackDocument{"capcli/profile_show/v1", t.Host, t.Device.Index, t.Device.UUID, t.Device.Model, t.From.Stamp(), t.To.Stamp(), t.Every.Seconds(), rows})
}
