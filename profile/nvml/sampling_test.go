//go:build linux && cgo

package nvml

import (
	"testing"
	"time"

	"capcli/profile"
)

const gib = 1 << 30

func TestFakeEveryMetric(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.util", 37, "0.utilmem", 11, "0.used", 20*gib, "0.reserved", 600<<20,
			"0.field185.0", 412345, "type185", 1, "0.limit", 650000, "0.energy", 123456789,
			"0.temp", 61, "0.field82.0", 83, "type82", 1, "0.clock", 1695, "0.clockmem", 2619, "0.pstate", 2, "0.throttle", 0x24,
			"0.fan", 33, "0.field3.0", 7, "0.field4.0", 1, "0.enc", 5, "0.dec", 6,
			"0.gpm2", 71.26, "0.gpm3", 33.3, "0.gpm5", 44.4, "0.gpm10", 55.5, "0.gpm11", 1.1, "0.gpm12", 2.2, "0.gpm13", 3.3,
			"0.gpm20", 1234, "0.gpm21", 4321, "0.gpm60", 50000, "0.gpm61", 60000)
		s := f.open(profile.SourceOptions{}, nil)
		if s.Host() != "box-1" {
			t.Errorf("host %q", s.Host())
		}
		first := see(t, s)
		if len(first.Samples) != 2 || first.Samples[0].Device.UUID != gpu0 || first.Samples[1].Device.UUID != gpu1 {
			t.Fatalf("samples %+v, want GPU 0 and 1", first.Samples)
		}
		wantReasons(t, sampleOf(t, first, gpu0), reasons{profile.SMActive: profile.First, profile.DRAMActive: profile.First})
		d := sampleOf(t, first, gpu0).Device
		want := profile.Device{
			Index: 0, UUID: gpu0, Model: "NVIDIA H100 80GB HBM3", Bus: "00000000:19:00.0", Driver: "550.54.15", GI: -1, CI: -1,
			PeakMemBytesPerS: 2619e6 * 5120 / 4, MaxSMClockMHz: 1980, SMs: 132, PeakPCIeMiBPerS: 60096, PeakNVLinkMiBPerS: 429153,
		}
		if *d != want {
			t.Errorf("device\n got %+v\nwant %+v", *d, want)
		}
		waitApart()
		second := see(t, s)
		if sampleOf(t, second, gpu0).Device != d {
			t.Error("a GPU that did not change is another device in the next tick")
		}
		wantValues(t, sampleOf(t, second, gpu0), values{
			profile.UtilGPU: 37, profile.UtilMem: 11, profile.MemUsed: 20 * gib, profile.MemReserved: 600 << 20, profile.MemTotal: 80 * gib,
			profile.Power: 412.345, profile.PowerLimit: 650, profile.Energy: 123456.789, profile.Temp: 61, profile.MemTemp: 83,
			profile.ClockSM: 1695, profile.ClockMem: 2619, profile.PState: 2, profile.Throttle: 0x24, profile.Fan: 33,
			profile.ECCCorrected: 7, profile.ECCUncorrected: 1, profile.UtilEnc: 5, profile.UtilDec: 6,
			profile.SMActive: 71.26, profile.SMOccupancy: 33.3, profile.TensorActive: 44.4, profile.DRAMActive: 55.5,
			profile.FP64Active: 1.1, profile.FP32Active: 2.2, profile.FP16Active: 3.3,
			profile.PCIeTx: 1234, profile.PCIeRx: 4321, profile.NVLinkRx: 50000, profile.NVLinkTx: 60000,
		})
		// GPU 1 was told nothing of its own: what the library says of all.
		wantValues(t, sampleOf(t, second, gpu1), values{profile.UtilGPU: 50, profile.Power: 300, profile.SMActive: 12.5})
		wantReasons(t, sampleOf(t, second, gpu1), reasons{profile.MemTemp: profile.Unsupported})
		// Two GPM samples too close together are not compared (nvml.h: 100 ms).
		s.gpus[0].gpm.at, s.gpus[1].gpm.at = s.gpus[0].clock(), s.gpus[1].clock()
		wantReasons(t, sampleOf(t, see(t, s), gpu0), reasons{profile.SMActive: profile.NotAsked, profile.PCIeTx: profile.NotAsked})
		if n := f.calls("nvmlDeviceGetPcieThroughput"); n != 0 {
			t.Errorf("PCIe throughput was asked %d times without being asked for", n)
		}
	})
}

func TestFakeNotSupportedIsNotZero(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("gpm", 0, "fail nvmlDeviceGetFanSpeed 0", 3, "fail nvmlDeviceGetEncoderUtilization 0", 4,
			"fail nvmlDeviceGetTotalEnergyConsumption 0", 999, "fail nvmlDeviceGetClockInfo 0", 10, "fail nvmlDeviceGetPowerUsage 0", 3,
			"fail nvmlDeviceGetMemoryInfo_v2 1", 3, "fail nvmlDeviceGetTemperatureV 1", 25, "fail nvmlDeviceGetPerformanceState 0", 13)
		s := f.open(profile.SourceOptions{}, nil)
		see(t, s)
		waitApart()
		tick := see(t, s)
		wantReasons(t, sampleOf(t, tick, gpu0), reasons{
			profile.Fan: profile.Unsupported, profile.UtilEnc: profile.NoPermission, profile.Energy: profile.Failed,
			profile.ClockSM: profile.Timeout, profile.Power: profile.Unsupported, profile.PState: profile.NoSymbol,
			profile.SMActive: profile.Unsupported, profile.TensorActive: profile.Unsupported,
			profile.PCIeTx: profile.Unsupported, profile.NVLinkRx: profile.Unsupported, profile.MemTemp: profile.Unsupported,
		})
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.UtilGPU: 50, profile.Temp: 55})
		// Version 1 of the memory call counts what is reserved as used.
		wantValues(t, sampleOf(t, tick, gpu1), values{profile.MemUsed: 30*gib + gib/2, profile.MemTotal: 80 * gib, profile.Temp: 55})
		wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.MemReserved: profile.NoSymbol})
		// What is not supported is not asked at every tick.
		asked := f.callsOf("nvmlDeviceGetPowerUsage", 0)
		for range 3 {
			see(t, s)
		}
		if got := f.callsOf("nvmlDeviceGetPowerUsage", 0); got != asked {
			t.Errorf("power asked %d times, want %d", got, asked)
		}
	})
}

func TestFakeOldDriver(t *testing.T) {
	withFake(t, "OLD", func(t *testing.T, f *fake) {
		f.set("0.temp", 44, "0.throttle", 8, "0.power", 71500, "0.sbe", 3, "0.dbe", 2, "0.compute", "77:1048576 78:2097152", "0.fan", 12)
		s := f.open(profile.SourceOptions{Processes: time.Hour}, nil)
		tick := see(t, s)
		wantValues(t, sampleOf(t, tick, gpu0), values{
			profile.Temp: 44, profile.Throttle: 8, profile.Power: 71.5, profile.ECCCorrected: 3, profile.ECCUncorrected: 2,
			profile.MemUsed: 30*gib + gib/2, profile.MemTotal: 80 * gib, profile.Fan: 12,
		})
		wantReasons(t, sampleOf(t, tick, gpu0), reasons{
			profile.SMActive: profile.NoSymbol, profile.MemReserved: profile.NoSymbol, profile.MemTemp: profile.NoSymbol,
			profile.NVLinkTx: profile.NoSymbol, profile.PCIeRx: profile.NoSymbol,
		})
		if p := tick.Processes; len(p) != 2 || p[0].PID != 77 || p[0].MemBytes != 1<<20 || p[1].PID != 78 || p[1].MemBytes != 2<<20 {
			t.Errorf("processes %+v, want 77 with 1 MiB and 78 with 2 MiB", tick.Processes)
		}
	})
}

func TestFakeSlowAsksForPCIe(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("gpm", 0, "0.pcietx", 204800, "0.pcierx", 512)
		s := f.open(profile.SourceOptions{Slow: true}, nil)
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.PCIeTx: 200, profile.PCIeRx: 1})
	})
}

// A figure can be a success and be nonsense.
func TestFakeGarbage(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.util", 4294967295, "0.utilmem", 101, "0.used", "max", "0.field185.0", 20_000_000, "type185", 1, "0.power", 0, "0.energy", "max",
			"0.temp", 255, "0.field82.0", 0, "type82", 1, "0.clock", 4294967295, "0.pstate", 32, "0.throttle", "max", "0.fan", 4294967295,
			"0.field3.0", "max", "0.sbe", "max", "0.dec", 1000, "0.limit", 0,
			"0.gpm2", 100.7, "0.gpm3", 102, "0.gpm5", "nan", "0.gpm10", -1, "0.gpm11", "inf", "0.gpm12", "fail 21", "0.gpm13", 1e300, "0.gpm20", 1e12,
			"1.total", "max", "1.reserved", 0, "1.used", 0)
		s := f.open(profile.SourceOptions{}, nil)
		see(t, s)
		waitApart()
		tick := see(t, s)
		bad := reasons{profile.FP32Active: profile.Failed, profile.PCIeTx: profile.OutOfRange}
		for _, m := range []profile.Metric{
			profile.UtilGPU, profile.UtilMem, profile.MemUsed, profile.Power, profile.Energy, profile.Temp, profile.MemTemp, profile.ClockSM,
			profile.PState, profile.Throttle, profile.Fan, profile.ECCCorrected, profile.UtilDec, profile.PowerLimit,
			profile.SMOccupancy, profile.TensorActive, profile.DRAMActive, profile.FP64Active, profile.FP16Active,
		} {
			bad[m] = profile.OutOfRange
		}
		wantReasons(t, sampleOf(t, tick, gpu0), bad)
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.SMActive: 100, profile.MemTotal: 80 * gib})
		wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.MemUsed: profile.OutOfRange, profile.MemTotal: profile.OutOfRange})
	})
}

// A driver that does not know one of the fields may refuse them all.
func TestFakeStrictFields(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.strict", 1, "0.field185.0", 123000, "0.field3.0", 4, "0.field4.0", 5, "0.dbe", 99)
		s := f.open(profile.SourceOptions{}, nil)
		for range 2 {
			wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.Power: 123, profile.ECCCorrected: 4, profile.ECCUncorrected: 5})
		}
		n := f.callsOf("nvmlDeviceGetFieldValues", 0)
		wantReasons(t, sampleOf(t, see(t, s), gpu0), reasons{profile.MemTemp: profile.Unsupported})
		if n = f.callsOf("nvmlDeviceGetFieldValues", 0) - n; n != 1 {
			t.Errorf("fields asked %d times in a tick, want once when it is known which there are", n)
		}
	})
}

// Without memory of its own (it shares the host's) a GPU has no figure, not 0.
func TestFakeMemoryForms(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		// GPU 0 counts reserved memory as used, against the manual.
		f.set("0.total", 80*gib, "0.reserved", 2*gib, "0.used", 30*gib, "0.free", 50*gib, "1.total", 0, "1.used", 0, "1.reserved", 0)
		tick := see(t, f.open(profile.SourceOptions{}, nil))
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.MemUsed: 28 * gib, profile.MemReserved: 2 * gib, profile.MemTotal: 80 * gib})
		wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.MemUsed: profile.Unsupported, profile.MemTotal: profile.Unsupported})
	})
}

// The driver's buffer of samples is longer than what it holds.
func TestFakeUtilisationHistory(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.util", 99, "0.samples", 6, "0.sampletime", 5_000_000, "0.sampled", 10, "0.sampledmem", 60)
		s := f.open(profile.SourceOptions{}, nil)
		// The first look has all that went before in it, and does not count.
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.UtilGPU: 99, profile.UtilMem: 20})
		// Nothing new: the latest figure.
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.UtilGPU: 99})
		// Three of six are new: 5000006 to 5000008, of values 23, 24 and 25.
		f.set("0.sampletime", 5_000_003, "0.sampled", 20, "0.sampledmem", 70)
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.UtilGPU: 24, profile.UtilMem: 74})
		// What cannot be is left out of the mean: 99, 100, and not 101 to 104.
		f.set("0.sampletime", 6_000_000, "0.sampled", 99)
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.UtilGPU: 100})
		f.set("0.samples", 0, "0.util", 0)
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.UtilGPU: 0})
	})
}

func TestFakeCountersThatFall(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		const mib = 1 << 20
		f.set("gpm", 0, "0.field197.0", 1000*mib, "0.field198.0", 0, "0.field138.-1", 4096, "0.field139.-1", 1<<40, "0.energy", 9_000_000,
			"1.field197.0", 7, "type198", 3)
		for link := range 18 {
			if link < 4 { // NVLink 5: no sum over the links, four of them
				f.set("1.field202."+string(rune('0'+link)), 1000*mib)
			}
		}
		s := f.open(profile.SourceOptions{}, nil)
		a := see(t, s)
		wantReasons(t, sampleOf(t, a, gpu0), reasons{profile.PCIeTx: profile.First, profile.NVLinkRx: profile.First})
		wantValues(t, sampleOf(t, a, gpu0), values{profile.Energy: 9000})
		time.Sleep(200 * time.Millisecond)
		at := time.Now()
		see(t, s) // GPU 1's single links are found
		f.set("0.field197.0", 1100*mib, "0.field198.0", 300*mib, "0.field138.-1", 4096+100*1024, "0.field139.-1", 5, "0.energy", 2_000)
		for _, link := range []string{"0", "1", "2", "3"} {
			f.set("1.field202."+link, 1050*mib)
		}
		time.Sleep(time.Second)
		b := see(t, s)
		took := time.Since(at).Seconds()
		// The rates are over the time between two looks: a second at least, and no
		// more than from before the first to after the second.
		for _, x := range []struct {
			uuid string
			m    profile.Metric
			grew float64
		}{{gpu0, profile.PCIeTx, 100}, {gpu0, profile.PCIeRx, 300}, {gpu0, profile.NVLinkTx, 100}, {gpu1, profile.NVLinkTx, 200}} {
			got, ok := sampleOf(t, b, x.uuid).Get(x.m)
			if !ok || got > x.grew || got < x.grew/took-profile.Metrics[x.m].Step {
				t.Errorf("%s of %s is %v (%s), want %v MiB over some %.1f s", x.m, x.uuid, got, sampleOf(t, b, x.uuid).Why[x.m], x.grew, took)
			}
		}
		// One fell: how far it went round is not known. The energy is passed on.
		wantReasons(t, sampleOf(t, b, gpu0), reasons{profile.NVLinkRx: profile.First})
		wantValues(t, sampleOf(t, b, gpu0), values{profile.Energy: 2})
		// One that falls again and again is too narrow.
		for _, v := range []int{4, 3, 2} {
			f.set("0.field139.-1", v)
			see(t, s)
		}
		f.set("0.field139.-1", 1<<30)
		wantReasons(t, sampleOf(t, see(t, s), gpu0), reasons{profile.NVLinkRx: profile.OutOfRange})
		// 32 bits of bytes are no counter at 60 GB/s.
		f.set("type197", 1)
		wantReasons(t, sampleOf(t, see(t, s), gpu0), reasons{profile.PCIeTx: profile.OutOfRange})
	})
}
