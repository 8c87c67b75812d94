// Package box samples the box around the GPUs and the control groups of the jobs on them, on Linux.
//
// Wrap adds its figures to the ticks of any profile.Source of this box: profile.HostSample in each
// tick, profile.GroupSample in ticks that looked at processes. It reads files of /proc, /sys and
// /sys/fs/cgroup only, needs no rights beyond reading them, and keeps them open, so that a tick costs
// one or two calls of the kernel a file. What a box lacks is missing with its reason, never 0.
//
// # What counts
//
//   - Network: the interfaces with hardware of their own (a link "device" in /sys/class/net). Bonds,
//     bridges, virtual pairs and loopback have none: what they carry passes a physical interface. An
//     interface whose master has a device too (the virtual function behind a virtual NIC of Hyper-V) is
//     counted by its master, one that stands for a virtual function (a representor) by the function, and
//     IPoIB by its InfiniBand port.
//   - Fabric: the ports of /sys/class/infiniband, which are InfiniBand, RoCE and EFA. An Ethernet
//     interface of a RoCE adapter counts as network: the kernel counts there what it carries itself,
//     while RDMA passes it by and is in the counters of the port.
//   - Disks: those with a device. Partitions, dm, md, loop and zram pass their reads on to one of them.
//     File systems over the network are not disks: their traffic is in the network or the fabric.
//   - A job's processes: the control group of the Slurm job, of the container, or of the pod where the
//     container is not known, else that of the process itself. Where several owners share one, it counts
//     for the first.
package box
