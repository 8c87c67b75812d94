package interop

import (
	"context"
	"net"
	"path/filepath"
	"reflect"
	"testing"

	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"capcli/profile/kubelet"
)

// lister is a kubelet: its published types, behind the gRPC server that it uses.
type lister struct {
	podresources.UnimplementedPodResourcesListerServer
	answer *podresources.ListPodResourcesResponse
}

func (l *lister) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	return l.answer, nil
}

// What a real gRPC server sends of the kubelet's own types is read, with many pods too.
func TestKubelet(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	fake := &lister{answer: &podresources.ListPodResourcesResponse{}}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, fake)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	c := kubelet.NewClient(socket)
	defer c.Close()
	if got, err := c.Holdings(t.Context(), "nvidia.com"); err != nil || len(got) != 0 {
		t.Errorf("an empty node: %v, %v", got, err)
	}
	var want []kubelet.Holding
	for i := range 5000 {
		name := "pod-" + string(rune('a'+i%26))
		fake.answer.PodResources = append(fake.answer.PodResources, &podresources.PodResources{
			Name: name, Namespace: "lab", Containers: []*podresources.ContainerResources{{
				Name: "main", CpuIds: []int64{3},
				Devices: []*podresources.ContainerDevices{
					{ResourceName: "nvidia.com/gpu", DeviceIds: []string{"GPU-1::2"}, Topology: &podresources.TopologyInfo{Nodes: []*podresources.NUMANode{{ID: 1}}}},
					{ResourceName: "rdma/hca", DeviceIds: []string{"mlx5_0"}},
				},
				Memory: []*podresources.ContainerMemory{{MemoryType: "memory", Size: 1 << 40}},
			}},
		})
		want = append(want, kubelet.Holding{Namespace: "lab", Pod: name, Container: "main", Resource: "nvidia.com/gpu", Devices: []string{"GPU-1::2"}})
	}
	if got, err := c.Holdings(t.Context(), "nvidia.com"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d of %d holdings are read: %v", len(got), len(want), err)
	}
}
