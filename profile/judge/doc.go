// Package judge says what a GPU did and what held it back.
//
// A Window takes the samples of one UTC minute of one device. Minute reads from it one Sign: what that
// minute shows, without knowledge of the job. Signs add up in a Tally, and tallies add in any order.
// Resolve turns signs into kinds with what is known of the job (its GPUs, boxes, command), Overall gives
// the verdict on the whole, and Work says what kind of work it is.
//
// The thresholds come from published measurements and documents, named where they stand. They are
// rules of thumb, so each finding carries its evidence and a confidence, and what the measurements
// cannot tell apart is "cannot tell".
//
// Sources:
//   - NVIDIA, Data Center GPU Manager User Guide, "Profiling Metrics": SM activity of 80 % or more is
//     necessary, but not sufficient, for effective use, and under 50 % is likely ineffective; memory
//     bandwidth in practice reaches about 80 % of its peak.
//   - Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009: a kernel is bound by what is nearest
//     to its ceiling.
//   - NVIDIA, NVML API Reference, "NvmlClocksEventReasons": bits of what holds clocks back.
//   - NVIDIA/nccl issues 968 and 1432, nebius/soperator issue 796: a collective that hangs shows full
//     utilisation at little power, about 70 W on an A100; a kernel of NCCL alone keeps 15 % of SMs active.
//   - Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters", USENIX ATC 2019 (Philly);
//     Weng et al., "MLaaS in the Wild", NSDI 2022 (Alibaba PAI); Hu et al., SC 2021 (Helios): jobs hold
//     GPUs at a median utilisation near 50 % and below, and spread jobs wait on the network.
//   - Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021: shares of step
//     time in which training waits for input.
package judge
