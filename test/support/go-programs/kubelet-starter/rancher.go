package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logsapi "k8s.io/component-base/logs/api/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// settings of /etc/rancher/k3s/config.yaml, or rke2.
type settings struct {
	KubeletArg []string `json:"kubelet-arg"`
}

// runRancher waits for the servers, the container runtime and the import of images before it says that it runs the kubelet. k3s then waits
// for the API server; RKE2 does not, because on its servers the kubelet runs that.
func runRancher(program string) {
	mode := os.Args[1]
	data := filepath.Join("/var/lib/rancher", program)
	agent := filepath.Join(data, "agent")
	node := os.Getenv("STARTER_NODE")
	say("info", "Starting %s %s", program, mode)
	var own settings
	text, err := os.ReadFile(filepath.Join("/etc/rancher", program, "config.yaml"))
	must(err)
	must(yaml.Unmarshal(text, &own))

	if mode == "server" {
		go serveAPI()
	}
	waitForAPIServer("/version", 2*time.Second, func(err error) {
		say("error", "Failed to validate connection to cluster at %s: failed to get CA certs: %v", os.Getenv("STARTER_API"), err)
	})
	for from, to := range map[string]string{clientCA: "client-ca.crt", kubeconfig: "kubelet.kubeconfig"} {
		text, err := os.ReadFile(from)
		must(err)
		write(filepath.Join(agent, to), text)
	}
	writeServingCertificate(filepath.Join(agent, "serving-kubelet.crt"), filepath.Join(agent, "serving-kubelet.key"), node)

	// systemd is told by this process alone.
	socket := os.Getenv("NOTIFY_SOCKET")
	os.Unsetenv("NOTIFY_SOCKET")
	apiReady := make(chan struct{})
	go func() {
		waitForAPIServer("/readyz", time.Second, func(error) {})
		say("info", "%s %s is up and running", program, mode)
		notifyReady(socket)
		close(apiReady)
	}()

	startContainerd("/run/k3s/containerd/containerd.sock", "/run/k3s/containerd", filepath.Join(agent, "containerd"),
		&lumberjack.Logger{Filename: filepath.Join(agent, "containerd", "containerd.log"), MaxSize: 50})
	if pause := duration("STARTER_IMPORT"); pause > 0 {
		images := filepath.Join(agent, "images", "airgap.tar.zst")
		say("info", "Importing images from %s", images)
		time.Sleep(pause)
		say("info", "Imported images from %s in %s", images, pause)
	}

	drops := filepath.Join(agent, "etc", "kubelet.conf.d")
	defaults, err := yaml.Marshal(rancherDefaults(agent))
	must(err)
	write(filepath.Join(drops, "00-"+program+"-defaults.conf"), defaults)
	args := []string{
		"--cloud-provider=external",
		"--config-dir=" + drops,
		"--hostname-override=" + node,
		"--kubeconfig=" + filepath.Join(agent, "kubelet.kubeconfig"),
		"--node-labels=",
		"--read-only-port=0",
	}
	args = append(args, takeConfig(drops, own.KubeletArg)...)
	if program == "k3s" {
		say("info", "Running kubelet %s", strings.Join(args, " "))
		<-apiReady
		runInside(args)
	}
	logFile := filepath.Join(agent, "logs", "kubelet.log")
	logFlags := []string{"--stderrthreshold=FATAL", "--log-file-max-size=50", "--alsologtostderr=false", "--logtostderr=false", "--log-file=" + logFile}
	say("info", "Running kubelet %s", strings.Join(append(append([]string{}, args...), logFlags...), " "))
	always := []string{"--volume-plugin-dir=/var/lib/kubelet/volumeplugins", "--file-check-frequency=5s", "--sync-frequency=30s"}
	log := &lumberjack.Logger{Filename: logFile, MaxSize: 50, MaxBackups: 3, MaxAge: 28, Compress: true}
	repeat(filepath.Join(data, "bin", "kubelet"), append(always, args...), log)
}

// repeat polls every five seconds: a kubelet that ran for longer is started again at once.
func repeat(path string, args []string, log io.Writer) {
	for {
		began := time.Now()
		say("error", "Kubelet exited: %v", runChild(path, args, log, syscall.SIGKILL))
		time.Sleep(5*time.Second - time.Since(began))
	}
}

// takeConfig copies the file that the user names among the drop-ins.
func takeConfig(drops string, args []string) []string {
	var others []string
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if name != "config" {
			others = append(others, "--"+strings.TrimPrefix(arg, "--"))
			continue
		}
		text, err := os.ReadFile(value)
		must(err)
		write(filepath.Join(drops, "10-cli-config.conf"), text)
	}
	return others
}

// rancherDefaults is what both write in 00-k3s-defaults.conf and 00-rke2-defaults.conf.
func rancherDefaults(agent string) *kubeletconfig.KubeletConfiguration {
	no, yes := false, true
	of := func(value time.Duration) metav1.Duration { return metav1.Duration{Duration: value} }
	resolv := "/etc/resolv.conf"
	return &kubeletconfig.KubeletConfiguration{
		TypeMeta:                         metav1.TypeMeta{APIVersion: "kubelet.config.k8s.io/v1beta1", Kind: "KubeletConfiguration"},
		Address:                          "0.0.0.0",
		AllowedUnsafeSysctls:             []string{"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		CgroupDriver:                     "cgroupfs",
		ClusterDNS:                       []string{"10.43.0.10"},
		ClusterDomain:                    "cluster.local",
		ContainerRuntimeEndpoint:         "unix:///run/k3s/containerd/containerd.sock",
		CPUManagerReconcilePeriod:        of(10 * time.Second),
		EvictionHard:                     map[string]string{"imagefs.available": "5%", "nodefs.available": "5%"},
		EvictionMinimumReclaim:           map[string]string{"imagefs.available": "10%", "nodefs.available": "10%"},
		EvictionPressureTransitionPeriod: of(5 * time.Minute),
		FailSwapOn:                       &no,
		FileCheckFrequency:               of(20 * time.Second),
		HealthzBindAddress:               "127.0.0.1",
		HTTPCheckFrequency:               of(20 * time.Second),
		ImageMinimumGCAge:                of(2 * time.Minute),
		NodeStatusReportFrequency:        of(5 * time.Minute),
		NodeStatusUpdateFrequency:        of(10 * time.Second),
		ResolverConfig:                   &resolv,
		RuntimeRequestTimeout:            of(2 * time.Minute),
		SerializeImagePulls:              &no,
		StaticPodPath:                    filepath.Join(agent, "pod-manifests"),
		StreamingConnectionIdleTimeout:   of(4 * time.Hour),
		SyncFrequency:                    of(time.Minute),
		TLSCertFile:                      filepath.Join(agent, "serving-kubelet.crt"),
		TLSPrivateKeyFile:                filepath.Join(agent, "serving-kubelet.key"),
		VolumeStatsAggPeriod:             of(time.Minute),
		Authentication: kubeletconfig.KubeletAuthentication{
			Anonymous: kubeletconfig.KubeletAnonymousAuthentication{Enabled: &no},
			Webhook:   kubeletconfig.KubeletWebhookAuthentication{Enabled: &yes, CacheTTL: of(2 * time.Minute)},
			X509:      kubeletconfig.KubeletX509Authentication{ClientCAFile: filepath.Join(agent, "client-ca.crt")},
		},
		Authorization: kubeletconfig.KubeletAuthorization{
			Mode: kubeletconfig.KubeletAuthorizationModeWebhook,
			Webhook: kubeletconfig.KubeletWebhookAuthorization{
				CacheAuthorizedTTL:   of(5 * time.Minute),
				CacheUnauthorizedTTL: of(30 * time.Second),
			},
		},
		Logging: logsapi.LoggingConfiguration{
			Format:         "text",
			FlushFrequency: logsapi.TimeOrMetaDuration{Duration: of(5 * time.Second), SerializeAsString: true},
		},
	}
}
