package profile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

// A recorder says whether it samples. Where it does not for some intervals, no old value is on the page.
func TestPageOfARecorder(t *testing.T) {
	story := "aaaaaffff" + strings.Repeat("f", 300)
	clock := &simClock{wall: noon, end: 5 * time.Minute}
	src := &scripted{clock: clock, gpu: profile.Device{UUID: "GPU-a", GI: -1, CI: -1}}
	i := -1
	src.next = func() byte { i++; return story[i] }
	health := &profile.Health{Program: "1.2", Host: "box", Clock: clock}
	health.WatchLog(func() (int64, error) { return 4096, nil })
	x := profile.NewExporter("box")
	x.More, x.IsUp = health.Families, health.IsUp
	pages := map[time.Duration]string{}
	clock.wait = func(c *simClock, _ time.Duration) { pages[c.steady] = string(x.Page(false)) }
	s := profile.Sampler{Source: src, Sink: &memory{}, Clock: clock, Every: time.Second, Observe: x.Observe, Health: health}
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Duration
		want []string
		not  []string
	}{
		{0, []string{"capcli_profile_up{host=\"box\"} 0\n", "ticks_total{host=\"box\"} 0\n"}, []string{"capcli_gpu", "age_seconds"}},
		{3 * time.Second, []string{
			"capcli_profile_up{host=\"box\"} 1\n", "capcli_gpu_util_gpu_ratio", "capcli_profile_ticks_total{host=\"box\"} 3\n",
			"capcli_profile_last_tick_age_seconds{host=\"box\"} 1\n", "last_tick_timestamp_seconds{host=\"box\"} 1790000002\n", "interval_seconds{host=\"box\"} 1\n",
			"capcli_profile_missed_ticks_total{host=\"box\"} 0\n", "log_bytes{host=\"box\"} 4096\n", "capcli_profile_build_info{host=\"box\",version=\"1.2\"} 1\n",
		}, nil},
		{13 * time.Second, []string{"capcli_profile_up{host=\"box\"} 1\n", "capcli_gpu_util_gpu_ratio", "missed_ticks_total{host=\"box\"} 8\n", "source_errors_total{host=\"box\"} 4\n"}, nil},
		{60 * time.Second, []string{"capcli_profile_up{host=\"box\"} 0\n", "ticks_total{host=\"box\"} 5\n", "age_seconds{host=\"box\"} 56\n"}, []string{"capcli_gpu"}},
	} {
		page := pages[c.at]
		for _, w := range c.want {
			if !strings.Contains(page, w) {
				t.Errorf("after %v: no %q in\n%s", c.at, w, page)
			}
		}
		for _, w := range c.not {
			if strings.Contains(page, w) {
				t.Errorf("after %v: %q in\n%s", c.at, w, page)
			}
		}
	}
	health.DiskError()
	if err := health.WatchSink(&memory{fail: errors.New("disk full")}).Write(&profile.Tick{}); err == nil {
		t.Error("a failure of the sink is not passed on")
	}
	health.WatchLog(func() (int64, error) { return 0, errors.New("no such folder") })
	if page := string(x.Page(true)); !strings.Contains(page, "disk_errors_total{host=\"box\"} 2\n") || strings.Contains(page, "log_bytes") {
		t.Errorf("got\n%s", page)
	}
}
