//go:build linux && cgo

package nvml

import (
	"testing"
	"time"

	"capcli/profile"
)

const mig00, mig01, mig02 = "MIG-00000000-0000-0000-0000-000000000000", "MIG-00000000-0001-0000-0000-000000000000", "MIG-00000000-0002-0000-0000-000000000000"

func TestFakeMIGComesAndGoes(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.compute", "100:4096", "0.field185.0", 200000, "type185", 1)
		s := f.open(profile.SourceOptions{Every: 300 * time.Millisecond, Processes: time.Hour}, nil)
		again := func() *profile.Tick { // as after a second
			for _, g := range s.gpus {
				g.migAt = 0
			}
			return see(t, s)
		}
		if tick := see(t, s); len(tick.Samples) != 2 {
			t.Fatalf("%d samples, want 2", len(tick.Samples))
		}
		// Two GPU instances; the second holds two compute instances.
		f.set("0.mig", 1,
			"0/0.profile", "1g.10gb", "0/0.gi", 7, "0/0.used", 3*gib, "0/0.reserved", 0, "0/0.total", 10*gib, "0/0.compute", "100:1024",
			"0/1.profile", "1c.2g.20gb", "0/1.gi", 3, "0/1.ci", 0, "0/1.mib", 19968, "0/1.sms", 32, "0/1.used", 5*gib, "0/1.reserved", 0, "0/1.total", 20*gib,
			"0/2.profile", "1c.2g.20gb", "0/2.gi", 3, "0/2.ci", 1, "0/2.mib", 19968, "0/2.used", 5*gib, "0/2.total", 20*gib, "0/2.compute", "101:max 102:2048")
		for _, id := range []string{"2", "3", "5", "10", "11", "12", "13"} {
			f.set("0.gi7.gpm"+id, 70, "0.gi3.gpm"+id, 30)
		}
		s.processAt = -2 * time.Hour
		tick := again()
		if e := event(tick, profile.MIGChanged); e == nil || e.Device != gpu0 || e.Value != 3 {
			t.Errorf("events %+v, want three instances of GPU 0", tick.Events)
		}
		if len(tick.Samples) != 5 || tick.Samples[0].Device.UUID != gpu0 || tick.Samples[1].Device.UUID != mig00 || tick.Samples[4].Device.UUID != gpu1 {
			t.Fatalf("samples %+v", tick.Samples)
		}
		waitApart()
		tick = see(t, s)
		wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.UtilGPU: profile.UnderMIG, profile.SMActive: profile.UnderMIG})
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.Power: 200, profile.MemTotal: 80 * gib})
		one, two, three := sampleOf(t, tick, mig00), sampleOf(t, tick, mig01), sampleOf(t, tick, mig02)
		wantValues(t, one, values{profile.SMActive: 70, profile.DRAMActive: 70, profile.MemUsed: 3 * gib, profile.MemTotal: 10 * gib})
		wantReasons(t, one, reasons{profile.Power: profile.UnderMIG, profile.Temp: profile.UnderMIG, profile.UtilGPU: profile.UnderMIG, profile.NVLinkTx: profile.UnderMIG})
		wantValues(t, two, values{profile.SMActive: 30, profile.MemUsed: 5 * gib})
		// What compute instances share is counted once.
		wantReasons(t, three, reasons{profile.SMActive: profile.UnderMIG, profile.MemUsed: profile.UnderMIG})
		want := profile.Device{
			Index: 0, UUID: mig01, Model: "NVIDIA H100 80GB HBM3", Bus: "00000000:19:00.0", Driver: "550.54.15", Parent: gpu0,
			Profile: "1c.2g.20gb", GI: 3, CI: 0, PeakMemBytesPerS: 2619e6 * 5120 / 4 / 4, MaxSMClockMHz: 1980, SMs: 32, PeakPCIeMiBPerS: 60096,
		}
		if *two.Device != want || !two.Device.MIG() {
			t.Errorf("instance\n got %+v\nwant %+v", *two.Device, want)
		}

		s.processAt = -2 * time.Hour
		tick = see(t, s)
		got := map[int64]string{}
		for _, p := range tick.Processes {
			got[p.PID] = p.Device.UUID + " " + p.MemWhy.String() + " " + p.SMWhy.String()
		}
		if len(tick.Processes) != 3 || got[100] != mig00+" known divided by MIG" || got[101] != mig02+" not supported divided by MIG" || got[102] != mig02+" known divided by MIG" {
			t.Errorf("processes %v", got)
		}

		// The same numbers and slot, another instance.
		before := one.Device
		f.set("0/0.serial", 1, "0/0.mib", 19968, "0/0.profile", "2g.20gb")
		tick = again()
		if event(tick, profile.MIGChanged) == nil || len(tick.Samples) != 5 {
			t.Fatalf("events %+v, %d samples", tick.Events, len(tick.Samples))
		}
		now := tick.Samples[1].Device
		if now == before || now.UUID == mig00 || now.GI != 7 || now.Profile != "2g.20gb" {
			t.Errorf("instance %+v, want another of the same number", now)
		}
		wantReasons(t, &tick.Samples[1], reasons{profile.SMActive: profile.First})
		if tick.Samples[2].Device != two.Device {
			t.Error("an instance that stayed is another device")
		}
		if tick = again(); len(tick.Events) != 0 {
			t.Errorf("events %+v, want none where nothing changed", tick.Events)
		}
		f.set("0/1.profile", nil, "0/2.profile", nil)
		if tick = again(); event(tick, profile.MIGChanged) == nil || len(tick.Samples) != 3 {
			t.Fatalf("events %+v, %d samples", tick.Events, len(tick.Samples))
		}

		f.set("0.mig", 0)
		tick = again()
		if e := event(tick, profile.MIGChanged); e == nil || e.Value != 0 || len(tick.Samples) != 2 {
			t.Errorf("events %+v, %d samples, want GPU 0 whole", tick.Events, len(tick.Samples))
		}
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.UtilGPU: 50})
		waitApart()
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.SMActive: 12.5})
	})
}

// A server of eight GPUs, of which one is divided, with its only instance in a place in the middle.
func TestFakeMIGWithEmptyPlaces(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("count", 8, "0.mig", 1, "0/4.profile", "3g.40gb", "0/4.gi", 2, "0/4.ci", 0, "0/4.mib", 40448, "0/4.sms", 60, "0/4.used", gib, "0/4.total", 40*gib)
		s := f.open(profile.SourceOptions{}, nil)
		tick := see(t, s)
		if len(tick.Samples) != 9 {
			t.Fatalf("%d samples, want 8 GPUs and an instance", len(tick.Samples))
		}
		d := tick.Samples[1].Device
		if d.Parent != gpu0 || d.Profile != "3g.40gb" || d.GI != 2 || d.CI != 0 || d.SMs != 60 {
			t.Errorf("instance %+v", *d)
		}
		wantValues(t, &tick.Samples[1], values{profile.MemUsed: gib, profile.MemTotal: 40 * gib})
	})
}
