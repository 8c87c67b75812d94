package generate

import (
	"fmt"

	"capcli"
)

// Mixes are classes of work fitted to published figures of real clusters, by name. Their rates are
// those of the whole cluster; Workload.Scale lowers them for a smaller one.
//
// A mix has one class for each range of GPU counts, because larger jobs run
// longer; within a class the count and the run time are drawn independently.
// Run times are log-normal between a second and the longest job of the log. The means written here
// are those before this truncation, which lowers them by a tenth and more.
var Mixes = capcli.Catalog[func() []Class]{Kind: "mix of jobs"}

func init() {
	Mixes.Add("philly", "Microsoft Philly 2017: most jobs on one GPU, very long tails (Jeon et al., ATC 2019)", philly)
	Mixes.Add("helios", "SenseTime Helios 2020: short jobs and large ones, a strong day (Hu et al., SC 2021)", helios)
}

// philly is fitted to the log of Microsoft's Philly cluster, 96,260 jobs in 75
// days (Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN
// Training Workloads", ATC 2019), in these figures:
//   - 112,956 GPU jobs of 18,006 s on average and 874 s in the median, on 1.928
//     GPUs on average and 1 in the median, 61,040 GPU-seconds each, the longest
//     of 4,240,676 s, the largest of 128 GPUs (the summary published with Hu et
//     al., "Characterization of Large Language Model Development in the
//     Datacenter", NSDI 2024);
//   - GPU time by size: 18 % on 1 GPU, 20 % on 2 to 4, 48 % on 5 to 8, 14 % on
//     more; submissions with a first daily harmonic of 1.8 between top and
//     bottom, and at weekends 0.52 of weekdays; one virtual cluster with half
//     of the jobs (msr-fiddle/philly-traces, CC-BY-4.0).
//
// Hours are those of the log.
func philly() []Class {
	const perDay, longest = 96_260.0 / 75, 4_240_676
	class := func(name string, share float64, median, mean capcli.Seconds, sizes ...Size) Class {
		return Class{
			Name: name, Kind: Random, JobsPerDay: perDay * share, Sizes: sizes,
			RunMedian: median, RunMean: mean, RunMax: longest, DaySwing: 1.8, PeakHour: 5, Weekend: 0.52,
			Tenants: virtualClusters(50, 19.6, 12.1, 9, 2.4, 1.8, 1.7, 1.4, 2),
		}
	}
	return []Class{
		class("philly-1", 0.8456, 729, 13_740, Size{1, 1}),
		class("philly-2-4", 0.070, 1715, 167_000, Size{2, 46}, Size{4, 54}),
		class("philly-8", 0.075, 3430, 76_500, Size{8, 1}),
		class("philly-over-8", 0.0094, 3430, 45_800, Size{16, 65}, Size{32, 22}, Size{64, 6}, Size{128, 1}),
	}
}

// helios is fitted to the log of four clusters of SenseTime's Helios, 6,220
// GPUs, 1,580,464 GPU jobs from April to September 2020 (Hu et al.,
// "Characterization and Prediction of Deep Learning Workloads in Large-Scale
// GPU Datacenters", SC 2021), in these figures of the summary published with
// it (HeliosArtifact):
//   - 6,652 s on average and 206 s in the median, 3.716 GPUs on average and 1
//     in the median, 49,350 GPU-seconds each, the longest of 4,320,009 s;
//   - submissions of GPU jobs to the cluster Venus with a first daily harmonic
//     of 5.2 between top and bottom, the top at 17:00, and at weekends 0.66 of
//     weekdays.
//
// Hours are those of the log. How GPU time falls on sizes over 1 follows from
// the means alone and is a choice; so are the tenants.
func helios() []Class {
	const perDay, longest = 1_580_464.0 / 183, 4_320_009
	class := func(name string, share float64, median, mean capcli.Seconds, sizes ...Size) Class {
		return Class{
			Name: name, Kind: Random, JobsPerDay: perDay * share, Sizes: sizes,
			RunMedian: median, RunMean: mean, RunMax: longest, DaySwing: 5.2, PeakHour: 17, Weekend: 0.66,
			Tenants: virtualClusters(1, 1./2, 1./3, 1./4, 1./5, 1./6, 1./7, 1./8),
		}
	}
	return []Class{
		class("helios-1", 0.626, 165, 4530, Size{1, 1}),
		class("helios-2-4", 0.220, 229, 10_560, Size{2, 10}, Size{4, 12}),
		class("helios-8", 0.110, 275, 14_800, Size{8, 1}),
		class("helios-over-8", 0.044, 275, 46_800, Size{16, 250}, Size{32, 110}, Size{64, 50}, Size{128, 22}, Size{256, 6}),
	}
}

// virtualClusters returns tenants vc1, vc2 and so on with these weights.
func virtualClusters(weights ...float64) []Tenant {
	out := make([]Tenant, len(weights))
	for i, w := range weights {
		out[i] = Tenant{Name: fmt.Sprintf("vc%d", i+1), Weight: w}
	}
	return out
}
