package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	netutils "k8s.io/utils/net"
)

var minor, _ = strconv.Atoi(version.Get().Minor)

// What keeps a kubelet with this config from starting, on a machine that has whatever the config asks for. The functions of the kubelet
// that cannot be called from outside, or not without a machine, are told again here; each names the one that it stands for.
func refusedAtStart(kubelet *config.KubeletConfiguration) (said []string) {
	for _, check := range []func(*config.KubeletConfiguration) error{
		dynamicConfig, iptablesBits, serving, ports, authorization, endpoints, reservations, thresholds, qosReserved, topologyManager, cpuManager, memoryManager,
		syncFrequency, changeDetection, containerLogs, sysctls, userIDs, systemCgroups, enforcedCgroups, staticPods, runtimeTimeout, openFiles,
	} {
		if err := safely(check, kubelet); err != nil {
			said = append(said, err.Error())
		}
	}
	return said
}

func safely(check func(*config.KubeletConfiguration) error, kubelet *config.KubeletConfiguration) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("panic: %v", broken)
		}
	}()
	return check(kubelet)
}

// NewKubeletCommand, which is as good as a locked gate.
func dynamicConfig(*config.KubeletConfiguration) error {
	if minor >= 24 && isOn("DynamicKubeletConfig") {
		return fmt.Errorf("cannot set feature gate DynamicKubeletConfig to true, feature is locked to false")
	}
	return nil
}

// NewMainKubelet.
func iptablesBits(kubelet *config.KubeletConfiguration) error {
	drop, masquerade := fieldOf[int32](kubelet, "IPTablesDropBit"), fieldOf[int32](kubelet, "IPTablesMasqueradeBit")
	if minor < 28 && kubelet.MakeIPTablesUtilChains && drop == masquerade {
		return fmt.Errorf("iptablesDropBit, iptablesMasqueradeBit: must be different")
	}
	return nil
}

// InitializeTLS of cmd/kubelet/app/server.go.
func serving(kubelet *config.KubeletConfiguration) error {
	if _, err := cliflag.TLSCipherSuites(kubelet.TLSCipherSuites); err != nil {
		return fmt.Errorf("tlsCipherSuites: %w", err)
	}
	if _, err := cliflag.TLSVersion(kubelet.TLSMinVersion); err != nil {
		return fmt.Errorf("tlsMinVersion: %w", err)
	}
	// ListenAndServeKubeletServer; from 1.36 on it starts, and has no certificate to show.
	if minor < 36 && (kubelet.TLSCertFile == "") != (kubelet.TLSPrivateKeyFile == "") {
		return fmt.Errorf("tlsCertFile, tlsPrivateKeyFile: there is only one of them")
	}
	if err := http2Ciphers(kubelet); err != nil {
		return err
	}
	return curves(kubelet)
}

// ConfigureServer of golang.org/x/net/http2, which net/http has a copy of.
func http2Ciphers(kubelet *config.KubeletConfiguration) error {
	ids, err := cliflag.TLSCipherSuites(kubelet.TLSCipherSuites)
	if err != nil || len(ids) == 0 || !kubelet.EnableServer || kubelet.TLSMinVersion == "VersionTLS13" {
		return nil
	}
	for _, id := range ids {
		if id == tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 || id == tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 {
			return nil
		}
	}
	return fmt.Errorf("tlsCipherSuites: missing an HTTP/2-required AES_128_GCM_SHA256 cipher")
}

// ListenAndServeKubeletServer and ListenAndServeKubeletReadOnlyServer, which exit where their port is taken, maybe by the health endpoint.
func ports(kubelet *config.KubeletConfiguration) error {
	if (kubelet.EnableServer || kubelet.ReadOnlyPort > 0) && netutils.ParseIPSloppy(kubelet.Address) == nil {
		return fmt.Errorf("address: lookup <nil>: no such host")
	}
	if kubelet.EnableServer && kubelet.ReadOnlyPort == kubelet.Port {
		return fmt.Errorf("readOnlyPort: %d is taken", kubelet.Port)
	}
	here, there := kubelet.HealthzBindAddress, kubelet.Address
	overlap := here == there
	for _, address := range []string{here, there} {
		overlap = overlap || address == "0.0.0.0" || address == "::"
	}
	taken := (kubelet.EnableServer && kubelet.HealthzPort == kubelet.Port) || kubelet.HealthzPort == kubelet.ReadOnlyPort
	if overlap && taken && kubelet.HealthzPort > 0 {
		return fmt.Errorf("healthzPort: %d is taken", kubelet.HealthzPort)
	}
	return nil
}

// BuildAuthz of cmd/kubelet/app/auth.go.
func authorization(kubelet *config.KubeletConfiguration) error {
	switch kubelet.Authorization.Mode {
	case config.KubeletAuthorizationModeAlwaysAllow, config.KubeletAuthorizationModeWebhook:
		return nil
	default:
		return fmt.Errorf("authorization.mode: unknown authorization mode %q", kubelet.Authorization.Mode)
	}
}

// GetAddressAndDialer of k8s.io/cri-client/pkg/util; what has no scheme is a path.
func endpoints(kubelet *config.KubeletConfiguration) error {
	for field, name := range map[string]string{"containerRuntimeEndpoint": "ContainerRuntimeEndpoint", "imageServiceEndpoint": "ImageServiceEndpoint"} {
		endpoint := fieldOf[string](kubelet, name)
		parsed, err := url.Parse(endpoint)
		if err != nil || parsed.Scheme == "" {
			parsed, err = url.Parse("unix://" + endpoint)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		// On Windows it is npipe.
		if parsed.Scheme != "unix" && parsed.Scheme != "npipe" {
			return fmt.Errorf("%s: protocol %q not supported", field, parsed.Scheme)
		}
		// What is dialed then is "", and no socket.
		if parsed.Scheme == "unix" && parsed.Path == "" && endpoint != "" {
			return fmt.Errorf("%s: missing address", field)
		}
	}
	return nil
}

// parseResourceList of cmd/kubelet/app/server.go.
func resourceList(written map[string]string, field string) (v1.ResourceList, error) {
	list := v1.ResourceList{}
	for name, amount := range written {
		switch name {
		case "cpu", "memory", "ephemeral-storage", "pid":
		default:
			return nil, fmt.Errorf("%s: cannot reserve %q resource", field, name)
		}
		quantity, err := resource.ParseQuantity(amount)
		if err != nil {
			return nil, fmt.Errorf("%s: failed to parse quantity %q for %q resource: %w", field, amount, name, err)
		}
		if quantity.Sign() == -1 {
			return nil, fmt.Errorf("%s: resource quantity for %q cannot be negative: %v", field, name, amount)
		}
		list[v1.ResourceName(name)] = quantity
	}
	return list, nil
}

func reservations(kubelet *config.KubeletConfiguration) error {
	if _, err := resourceList(kubelet.KubeReserved, "kubeReserved"); err != nil {
		return err
	}
	_, err := resourceList(kubelet.SystemReserved, "systemReserved")
	return err
}

// Both places of the kubelet that read them: run of cmd/kubelet/app/server.go and NewMainKubelet.
func thresholds(kubelet *config.KubeletConfiguration) error {
	if _, err := eviction.ParseThresholdConfig(nil, kubelet.EvictionHard, nil, nil, nil); err != nil {
		return fmt.Errorf("evictionHard: %w", err)
	}
	if _, err := eviction.ParseThresholdConfig(nil, nil, kubelet.EvictionSoft, kubelet.EvictionSoftGracePeriod, nil); err != nil {
		return fmt.Errorf("evictionSoft, evictionSoftGracePeriod: %w", err)
	}
	_, err := eviction.ParseThresholdConfig(kubelet.EnforceNodeAllocatable, kubelet.EvictionHard, kubelet.EvictionSoft,
		kubelet.EvictionSoftGracePeriod, kubelet.EvictionMinimumReclaim)
	if err != nil {
		return fmt.Errorf("evictionMinimumReclaim: %w", err)
	}
	return nil
}

func qosReserved(kubelet *config.KubeletConfiguration) error {
	if _, err := cm.ParseQOSReserved(kubelet.QOSReserved); err != nil {
		return fmt.Errorf("qosReserved: %w", err)
	}
	return nil
}

// What of the node is kept back from pods: getReservedCPUs and the lines behind it, and GetNodeAllocatableReservation.
func keptBack(kubelet *config.KubeletConfiguration, numaNodes int64) (v1.ResourceList, cpuSet, error) {
	specific, err := parseCPUs(kubelet.ReservedSystemCPUs)
	if err != nil {
		return nil, specific, err
	}
	kube, err := resourceList(kubelet.KubeReserved, "kubeReserved")
	if err != nil {
		return nil, specific, err
	}
	system, err := resourceList(kubelet.SystemReserved, "systemReserved")
	if err != nil {
		return nil, specific, err
	}
	if specific.Size() > 0 {
		delete(kube, v1.ResourceCPU)
		system[v1.ResourceCPU] = *resource.NewQuantity(int64(specific.Size()), resource.DecimalSI)
	}
	hard, err := eviction.ParseThresholdConfig(nil, kubelet.EvictionHard, nil, nil, nil)
	if err != nil {
		return nil, specific, err
	}
	sum := v1.ResourceList{}
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		total := resource.NewQuantity(0, resource.DecimalSI)
		total.Add(system[name])
		total.Add(kube[name])
		for _, threshold := range hard {
			capacity := resource.NewQuantity(numaNodes*memoryOfNode, resource.BinarySI)
			if name == v1.ResourceMemory && threshold.Signal == evictionapi.SignalMemoryAvailable {
				total.Add(*evictionapi.GetThresholdQuantity(threshold.Value, capacity))
			}
		}
		if !total.IsZero() {
			sum[name] = *total
		}
	}
	return sum, specific, nil
}

const (
	cores        = 64
	memoryOfNode = int64(64) << 30
)

// A machine with the NUMA nodes that the config names, in the type that this kubelet has for it.
func machine(wanted reflect.Type, kubelet *config.KubeletConfiguration) (any, int64) {
	type core struct {
		Id      int   `json:"core_id"`
		Threads []int `json:"thread_ids"`
	}
	type node struct {
		Id     int    `json:"node_id"`
		Memory int64  `json:"memory"`
		Cores  []core `json:"cores"`
	}
	nodes := []node{{Id: 0, Memory: memoryOfNode}}
	for i := range cores {
		nodes[0].Cores = append(nodes[0].Cores, core{Id: i, Threads: []int{i}})
	}
	for _, reserved := range kubelet.ReservedMemory {
		nodes = append(nodes, node{Id: int(reserved.NumaNode), Memory: memoryOfNode})
	}
	written, err := json.Marshal(map[string]any{"num_cores": cores, "num_physical_cores": cores, "num_sockets": 1, "topology": nodes})
	fail(err)
	made := reflect.New(wanted.Elem())
	fail(json.Unmarshal(written, made.Interface()))
	return made.Interface(), int64(len(nodes))
}

func topologyManager(kubelet *config.KubeletConfiguration) error {
	_, err := newTopologyManager(kubelet)
	return err
}

func newTopologyManager(kubelet *config.KubeletConfiguration) (topologymanager.Manager, error) {
	if isOff("TopologyManager") {
		made, err := call(topologymanager.NewFakeManager)
		return made[0].Interface().(topologymanager.Manager), err
	}
	options := fieldOf[map[string]string](kubelet, "TopologyManagerPolicyOptions")
	// run of cmd/kubelet/app/server.go, as long as there is that gate.
	if isOff("TopologyManagerPolicyOptions") {
		if options != nil {
			return nil, fmt.Errorf("topologyManagerPolicyOptions %v require feature gate TopologyManagerPolicyOptions", options)
		}
	}
	// With the policy none nobody reads them. A fault in them is one all the same: it shows on the day that there is a policy.
	if _, err := call(newTopologyOptions, options); err != nil {
		return nil, fmt.Errorf("topologyManagerPolicyOptions: %w", err)
	}
	made, err := call(topologymanager.NewManager, kubelet.TopologyManagerPolicy, kubelet.TopologyManagerScope, options)
	if err != nil {
		return nil, fmt.Errorf("topologyManagerPolicy, topologyManagerPolicyOptions: %w", err)
	}
	return made[0].Interface().(topologymanager.Manager), nil
}

func cpuManager(kubelet *config.KubeletConfiguration) error {
	topology, err := newTopologyManager(kubelet)
	if err != nil || isOff("CPUManager") {
		return nil
	}
	options := fieldOf[map[string]string](kubelet, "CPUManagerPolicyOptions")
	// run of cmd/kubelet/app/server.go, as long as there is that gate.
	if isOff("CPUManagerPolicyOptions") && options != nil {
		return fmt.Errorf("cpuManagerPolicyOptions %v require feature gate CPUManagerPolicyOptions", options)
	}
	info, nodes := machine(parameter(cpumanager.NewManager, "MachineInfo"), kubelet)
	reserved, specific, err := keptBack(kubelet, nodes)
	if err != nil {
		// A fault of its own. The policy is judged as if one CPU were kept back.
		reserved, specific = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}, cpuSet{}
	}
	_, err = call(cpumanager.NewManager, string(kubelet.CPUManagerPolicy), options,
		kubelet.CPUManagerReconcilePeriod.Duration, info, specific, reserved, "/nowhere", topology)
	// More of them than this machine has is not a fault of the config.
	if err == nil || strings.Contains(err.Error(), "not enough cpus available") || strings.Contains(err.Error(), "unable to reserve the required amount") {
		return nil
	}
	return fmt.Errorf("cpuManagerPolicy, cpuManagerPolicyOptions: %w", err)
}

func memoryManager(kubelet *config.KubeletConfiguration) error {
	topology, err := newTopologyManager(kubelet)
	if err != nil || isOff("MemoryManager") {
		return nil
	}
	info, nodes := machine(parameter(memorymanager.NewManager, "MachineInfo"), kubelet)
	reserved, _, err := keptBack(kubelet, nodes)
	if err != nil {
		return nil
	}
	_, err = call(memorymanager.NewManager, kubelet.MemoryManagerPolicy, info, reserved, kubelet.ReservedMemory, "/nowhere", topology)
	if err != nil {
		return fmt.Errorf("memoryManagerPolicy, reservedMemory: %w", err)
	}
	return nil
}

// Whether there is a gate of that name, and it is off.
func isOff(name string) bool { return isKnown(name) && !isOn(name) }

func isOn(name string) bool {
	return isKnown(name) && utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
}

func isKnown(name string) bool {
	_, known := gatesIn(utilfeature.DefaultMutableFeatureGate)[featuregate.Feature(name)]
	return known
}

// NewMainKubelet.
func syncFrequency(kubelet *config.KubeletConfiguration) error {
	if kubelet.SyncFrequency.Duration <= 0 {
		return fmt.Errorf("syncFrequency: invalid sync frequency %d", kubelet.SyncFrequency.Duration)
	}
	return nil
}

// NewMainKubelet.
func changeDetection(kubelet *config.KubeletConfiguration) error {
	switch kubelet.ConfigMapAndSecretChangeDetectionStrategy {
	case config.WatchChangeDetectionStrategy, config.TTLCacheChangeDetectionStrategy, config.GetChangeDetectionStrategy:
		return nil
	default:
		return fmt.Errorf("configMapAndSecretChangeDetectionStrategy: unknown mode: %v", kubelet.ConfigMapAndSecretChangeDetectionStrategy)
	}
}

// NewContainerLogManager, which leaves goroutines behind.
func containerLogs(kubelet *config.KubeletConfiguration) error {
	if kubelet.ContainerLogMaxFiles <= 1 {
		return fmt.Errorf("containerLogMaxFiles: invalid MaxFiles %d, must be > 1", kubelet.ContainerLogMaxFiles)
	}
	size, err := resource.ParseQuantity(kubelet.ContainerLogMaxSize)
	if err != nil {
		return fmt.Errorf("containerLogMaxSize: failed to parse %q: %w", kubelet.ContainerLogMaxSize, err)
	}
	if _, whole := size.AsInt64(); !whole {
		return fmt.Errorf("containerLogMaxSize: %q is not a whole number", kubelet.ContainerLogMaxSize)
	}
	return nil
}

func sysctls(kubelet *config.KubeletConfiguration) error {
	// NewMainKubelet puts them behind those that are safe.
	if _, err := newAllowlist(kubelet.AllowedUnsafeSysctls); err != nil {
		return fmt.Errorf("allowedUnsafeSysctls: %w", err)
	}
	return nil
}

// TLSCurvePreferences of component-base/cli/flag, which is there from 1.36 on.
func curves(kubelet *config.KubeletConfiguration) error {
	seen := map[int32]bool{}
	for _, id := range fieldOf[[]int32](kubelet, "TLSCurvePreferences") {
		if id <= 0 || id > math.MaxUint16 || seen[id] || strings.HasPrefix(tls.CurveID(id).String(), "CurveID(") {
			return fmt.Errorf("tlsCurvePreferences: %d is out of range, a duplicate or not supported", id)
		}
		seen[id] = true
	}
	return nil
}

// MakeUserNsManager of pkg/kubelet/userns, on a machine where the user kubelet has no ids of its own.
func userIDs(kubelet *config.KubeletConfiguration) error {
	if minor < 30 || (minor >= 35 && isOff("UserNamespacesSupport")) {
		return nil
	}
	ids := uint64(1 << 16)
	// Before 1.35 the manager is made before the kubelet has its config.
	if own := reflect.ValueOf(kubelet).Elem().FieldByName("UserNamespaces"); minor >= 35 && !own.IsNil() {
		if written := fieldOf[*int64](own.Interface(), "IDsPerPod"); written != nil {
			ids = uint64(uint32(*written))
		}
	}
	// A fault of its own.
	if ids == 0 || ids%(1<<16) != 0 {
		return nil
	}
	if length := uint64(1<<32) - ids; length%ids != 0 {
		return fmt.Errorf("userNamespaces: kubelet user assigned IDs length %d is not a multiple of %d", length, ids)
	} else if length/ids < uint64(uint32(kubelet.MaxPods)) {
		return fmt.Errorf("maxPods, userNamespaces: kubelet user assigned IDs are not enough to support %d pods", kubelet.MaxPods)
	}
	return nil
}

// setupNode of pkg/kubelet/cm.
func systemCgroups(kubelet *config.KubeletConfiguration) error {
	if kubelet.SystemCgroups == "/" {
		return fmt.Errorf("systemCgroups: system container cannot be root")
	}
	return nil
}

// enforceNodeAllocatableCgroups of pkg/kubelet/cm, where the cgroups are there. Names that it does not know are a fault of their own.
func enforcedCgroups(kubelet *config.KubeletConfiguration) error {
	for _, item := range kubelet.EnforceNodeAllocatable {
		if minor >= 32 {
			item = strings.TrimSuffix(item, "-compressible")
		}
		if item == "system-reserved" && kubelet.SystemReservedCgroup != "" && len(kubelet.SystemReserved) == 0 && kubelet.ReservedSystemCPUs == "" {
			return fmt.Errorf("enforceNodeAllocatable, systemReserved: %q cgroup is not configured properly", kubelet.SystemReservedCgroup)
		}
		if item == "kube-reserved" && kubelet.KubeReservedCgroup != "" && len(kubelet.KubeReserved) == 0 && kubelet.ReservedSystemCPUs == "" {
			return fmt.Errorf("enforceNodeAllocatable, kubeReserved: %q cgroup is not configured properly", kubelet.KubeReservedCgroup)
		}
	}
	return nil
}

// NewSourceFile of pkg/kubelet/config, which panics.
func staticPods(kubelet *config.KubeletConfiguration) error {
	if kubelet.StaticPodPath != "" && kubelet.FileCheckFrequency.Duration <= 0 {
		return fmt.Errorf("fileCheckFrequency: non-positive interval for NewTicker")
	}
	return nil
}

// PreInitRuntimeService; no runtime was seen to answer within a millisecond.
func runtimeTimeout(kubelet *config.KubeletConfiguration) error {
	if kubelet.RuntimeRequestTimeout.Duration < time.Millisecond {
		return fmt.Errorf("runtimeRequestTimeout: context deadline exceeded")
	}
	return nil
}

// RunKubelet sets the limit, and whatever opens a file or a socket next ends the kubelet.
func openFiles(kubelet *config.KubeletConfiguration) error {
	if kubelet.MaxOpenFiles >= 0 && kubelet.MaxOpenFiles < 25 {
		return fmt.Errorf("maxOpenFiles: too many open files")
	}
	return nil
}
