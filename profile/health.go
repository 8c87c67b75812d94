package profile

import (
	"sync"
	"time"
)

// A recorder that has seen no GPU for staleTicks intervals, and for staleLeast, is not up.
const (
	staleTicks = 5
	staleLeast = 10 * time.Second
)

// Health counts how a recording goes, for scrapers of metrics. Its methods may be called at the same
// time. A Sampler tells it what happens; on a nil Health that does nothing.
type Health struct {
	Program string // version of capcli
	Host    string // the box
	Clock   Clock  // of this box, whatever time is recorded

	mu           sync.Mutex
	log          func() (int64, error)
	last         time.Duration // when a GPU answered last, by Clock
	at           Instant
	every        time.Duration
	ticks        int64
	missed       int64
	sourceErrors int64
	diskErrors   int64
}

// tick counts a tick in which a GPU answered.
func (h *Health) tick(every time.Duration) {
	if h == nil {
		return
	}
	at, now := h.Clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ticks++
	h.at, h.last, h.every = at, now, every
}

// miss counts n ticks in which no GPU answered.
func (h *Health) miss(n int64) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missed += n
}

// sourceError counts a read of the source that failed or did not return in time.
func (h *Health) sourceError() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sourceErrors++
}

// DiskError counts a write to the disk that failed.
func (h *Health) DiskError() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.diskErrors++
}

// WatchSink returns a Sink that writes to s and counts its failures.
func (h *Health) WatchSink(s Sink) Sink { return watched{s, h} }

type watched struct {
	Sink
	health *Health
}

// Write implements Sink.
func (w watched) Write(t *Tick) error {
	err := w.Sink.Write(t)
	if err != nil {
		w.health.DiskError()
	}
	return err
}

// WatchLog has the page say the size of the append log, in bytes, as size tells it.
func (h *Health) WatchLog(size func() (int64, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = size
}

// IsUp reports whether a GPU answered lately: within five intervals, or ten seconds where that is longer.
func (h *Health) IsUp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isUp()
}

func (h *Health) isUp() bool {
	_, now := h.Clock.Now()
	return h.ticks > 0 && now-h.last <= max(staleTicks*h.every, staleLeast)
}

// Families writes the metrics of the recorder itself.
func (h *Health) Families(p *Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	up := 0.0
	if h.isUp() {
		up = 1
	}
	gauge := func(name, unit, help string, v float64) {
		p.Family("capcli_profile_"+name, GaugeFamily, unit, help)
		p.Sample(v, "host", h.Host)
	}
	count := func(name, help string, n int64) {
		p.Family("capcli_profile_"+name, CounterFamily, "", help)
		p.Sample(float64(n), "host", h.Host)
	}
	gauge("up", "", "1 where a GPU answered within the last five intervals or ten seconds, else 0; the metrics of GPUs are left out then", up)
	if h.ticks > 0 {
		_, now := h.Clock.Now()
		gauge("last_tick_age_seconds", "seconds", "time since a GPU answered last", (now - h.last).Seconds())
		gauge("last_tick_timestamp_seconds", "seconds", "time at which a GPU answered last, since 1970-01-01 UTC", float64(h.at)/1e6)
		gauge("interval_seconds", "seconds", "time between ticks: longer than asked for where the source is slow", h.every.Seconds())
	}
	count("ticks", "ticks in which a GPU answered", h.ticks)
	count("missed_ticks", "ticks in which no GPU answered", h.missed)
	count("source_errors", "reads of the source that failed or did not return in time", h.sourceErrors)
	count("disk_errors", "writes to the disk that failed", h.diskErrors)
	if h.log != nil {
		if n, err := h.log(); err == nil {
			gauge("log_bytes", "bytes", "size of the append log: of what is in no Parquet file yet", float64(n))
		}
	}
	p.Family("capcli_profile_build", InfoFamily, "", "version of capcli")
	p.Sample(1, "host", h.Host, "version", h.Program)
}
