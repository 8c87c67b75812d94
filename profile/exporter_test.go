package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"capcli/profile"
)

// exported is the page of a tick of the box "box", as text.
func exported(open bool, ticks ...*profile.Tick) string {
	x := profile.NewExporter("box")
	for _, t := range ticks {
		x.Observe(t)
	}
	return string(x.Page(open))
}

// A page has base units; what is not known has no line; who holds a GPU is said without the command line.
func TestExporterPage(t *testing.T) {
	gpu := &profile.Device{Index: 3, UUID: "GPU-a", Model: `H"100`, Bus: "0:19", GI: -1, CI: -1}
	mig := &profile.Device{Index: 3, UUID: "MIG-b", Model: "H100", Parent: "GPU-a", Profile: "1g.10gb", GI: 9, CI: 0}
	tick := profile.Tick{Events: []profile.Event{{Kind: profile.Xid, Device: "GPU-a", Value: 48}, {Kind: profile.Xid, Device: "GPU-a", Value: 79}}}
	s := tick.NextSample(gpu)
	for m, v := range map[profile.Metric]float64{
		profile.SMActive: 87.125, profile.Power: 301.5, profile.Energy: 12, profile.ClockSM: 1980, profile.PCIeTx: 2, profile.ThrottlePower: 1500, profile.ECCCorrected: 7,
	} {
		s.Set(m, v)
	}
	tick.NextSample(mig).Set(profile.MemUsed, 1<<30)
	without := exported(false, &tick)
	if strings.Contains(without, "capcli_gpu_held") {
		t.Error("who holds GPUs is not known, but the page says it")
	}
	tick.LookedAtProcesses, tick.LookedAtHost = true, true
	tick.Host.Why = [profile.NumHostMetrics]profile.Reason{}
	for m := range profile.NumHostMetrics {
		tick.Host.Why[m] = profile.Unsupported
	}
	tick.Host.Values[profile.HostCPU], tick.Host.Why[profile.HostCPU] = 12.5, profile.Known
	for pid := range int64(2) {
		tick.Processes = append(tick.Processes, profile.Process{Device: gpu, PID: pid, User: "mei", Job: "881", Command: "train --token s3cr3t"})
	}
	text := exported(false, &tick)
	const labels = `{host="box",gpu="3",uuid="GPU-a",model="H\"100"}`
	for _, want := range []string{
		"\ncapcli_gpu_sm_active_ratio" + labels + " 0.87125\n",
		"\ncapcli_gpu_power_watts" + labels + " 301.5\n",
		"\n# TYPE capcli_gpu_energy_joules_total counter\ncapcli_gpu_energy_joules_total" + labels + " 12\n",
		"\ncapcli_gpu_clock_sm_hertz" + labels + " 1980000000\n",
		"\ncapcli_gpu_pcie_tx_bytes_per_second" + labels + " 2097152\n",
		"\ncapcli_gpu_throttle_power_seconds_total" + labels + " 1.5\n",
		"\ncapcli_gpu_ecc_corrected_total" + labels + " 7\n",
		"\ncapcli_gpu_xids_total" + labels + " 2\n",
		"\ncapcli_gpu_last_xid" + labels + " 79\n",
		`capcli_gpu_mem_used_bytes{host="box",gpu="3",uuid="MIG-b",model="H100",mig_profile="1g.10gb",gi="9"} 1073741824`,
		`capcli_gpu_held_by{host="box",gpu="3",uuid="GPU-a",tenant="mei",job_id="881",user="mei"} 2`,
		`capcli_gpu_held{host="box",gpu="3",uuid="MIG-b",model="H100",mig_profile="1g.10gb",gi="9"} 0`,
		"\ncapcli_box_cpu_ratio{host=\"box\"} 0.125\n",
		"\ncapcli_gpu_holders_left_out{host=\"box\"} 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, not := range []string{"temp", "s3cr3t", "io_wait", "EOF", "# UNIT"} {
		if strings.Contains(text, not) {
			t.Errorf("the page has %q", not)
		}
	}
	open := exported(true, &tick)
	for _, want := range []string{"\n# TYPE capcli_gpu_energy_joules counter\n# UNIT capcli_gpu_energy_joules joules\ncapcli_gpu_energy_joules_total{", "\n# TYPE capcli_gpu info\ncapcli_gpu_info{"} {
		if !strings.Contains(open, want) {
			t.Errorf("the page in OpenMetrics lacks %s", want)
		}
	}
	if !strings.HasSuffix(open, "\n# EOF\n") {
		t.Error("the page in OpenMetrics has no end")
	}
}

// However many jobs hold the GPUs, the page names a bounded number and sums up the others.
func TestExporterBoundsNames(t *testing.T) {
	tick := profile.Tick{LookedAtProcesses: true}
	const gpus, jobs = 40, 100
	for i := range gpus {
		d := &profile.Device{Index: i, UUID: fmt.Sprintf("GPU-%d", i), GI: -1, CI: -1}
		tick.NextSample(d)
		for k := range jobs {
			tick.Processes = append(tick.Processes, profile.Process{Device: d, User: strings.Repeat("ä", 500), Job: fmt.Sprint(i*jobs + k)})
		}
	}
	text := exported(false, &tick)
	named, processes := 0, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "capcli_gpu_held_by{") {
			named++
			n := 0
			if _, err := fmt.Sscan(line[strings.LastIndex(line, " "):], &n); err != nil {
				t.Fatal(err)
			}
			if processes += n; len(line) > 800 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	}
	if named > 256+gpus || processes != gpus*jobs {
		t.Errorf("%d lines of %d processes, want at most %d of %d", named, processes, 256+gpus, gpus*jobs)
	}
	if want := fmt.Sprintf("capcli_gpu_holders_left_out{host=\"box\"} %d\n", gpus*jobs-256); !strings.Contains(text, want) {
		t.Errorf("the page lacks %s", want)
	}
}
