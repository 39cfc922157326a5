//! The table itself: what is used first, then what is always so, then what has no meaning and why.

use super::Group;
use super::Meaning::{self, Ignored, OldName, Refused, Same, Used};
use super::Role::{self, Admin, Consumer, Producer};

const ALL: &[Role] = &[Consumer, Producer, Admin];
const CLIENTS: &[Role] = &[Consumer, Producer];
const CONSUMER: &[Role] = &[Consumer];
const PRODUCER: &[Role] = &[Producer];
const ADMIN: &[Role] = &[Admin];

const BYTE_ARRAYS: Meaning = Same {
    always: "keys and values are copied byte for byte",
    agrees: &[
        "org.apache.kafka.common.serialization.ByteArraySerializer",
        "org.apache.kafka.common.serialization.ByteArrayDeserializer",
        "kafka.serializer.DefaultEncoder",
        "kafka.serializer.DefaultDecoder",
    ],
};
const FOREVER: Meaning = Same {
    always: "a write is repeated until its outcome is known, however long the target needs",
    agrees: &["2147483647", "9223372036854775807", "-1", "true"],
};
const NO_GROUP: &str = "kmirror does not join the source's group";
const NO_JMX: &str = "there is no JMX here and nothing is pushed to the cluster";
const NO_CLASSES: &str = "there is no JVM to load a class into";
const NO_TRANSACTIONS: &str = "exactly once rests on sequences and the ledger, not on transactions";
const WHOLE_BATCHES: &str = "batches come whole from the source, so nothing waits to be filled";
const ONE_BUDGET: &str = "one budget bounds the memory of the whole mirror";
const FIXED_PARTITIONS: &str = "partition n goes to partition n";
const NO_ZOOKEEPER: &str = "ZooKeeper is never asked; bootstrap.servers is used";

/// Every key of every release, by meaning.
pub(super) static TABLE: &[Group] = &[
    Group {
        roles: ALL,
        meaning: Used,
        keys: &[
            "bootstrap.servers",
            "client.id",
            "metadata.max.age.ms",
            "reconnect.backoff.max.ms",
            "reconnect.backoff.ms",
            "request.timeout.ms",
            "retry.backoff.ms",
            "security.protocol",
            "socket.connection.setup.timeout.ms",
        ],
    },
    Group { roles: PRODUCER, meaning: OldName("bootstrap.servers"), keys: &["metadata.broker.list"] },
    Group {
        roles: CONSUMER,
        meaning: Used,
        keys: &[
            "auto.offset.reset",
            "check.crcs",
            "fetch.max.bytes",
            "fetch.max.wait.ms",
            "fetch.min.bytes",
            "group.id",
            "isolation.level",
            "max.partition.fetch.bytes",
        ],
    },
    Group { roles: CONSUMER, meaning: OldName("max.partition.fetch.bytes"), keys: &["fetch.message.max.bytes"] },
    Group { roles: CONSUMER, meaning: OldName("fetch.max.wait.ms"), keys: &["fetch.wait.max.ms"] },
    Group {
        roles: PRODUCER,
        meaning: Used,
        keys: &["batch.size", "compression.type", "max.in.flight.requests.per.connection", "max.request.size"],
    },
    Group { roles: PRODUCER, meaning: OldName("compression.type"), keys: &["compression.codec"] },
    Group { roles: ADMIN, meaning: Used, keys: &["default.api.timeout.ms"] },
    Group {
        roles: ALL,
        meaning: Refused("SASL is", "connect to a plaintext listener of the cluster, and leave every sasl.* key out"),
        keys: &["sasl."],
    },
    Group {
        roles: ALL,
        meaning: Refused("configuration providers are", "write the values themselves into the file"),
        keys: &["config.providers", "config.providers."],
    },
    Group {
        roles: PRODUCER,
        meaning: Same { always: "a write counts when every in-sync replica has it (acks=all)", agrees: &["all", "-1"] },
        keys: &["acks", "request.required.acks"],
    },
    Group {
        roles: PRODUCER,
        meaning: Same {
            always: "batches are stamped with a producer id and sequences on every target from 0.11 on",
            agrees: &["true"],
        },
        keys: &["enable.idempotence"],
    },
    Group {
        roles: PRODUCER,
        meaning: FOREVER,
        keys: &["block.on.buffer.full", "delivery.timeout.ms", "max.block.ms", "message.send.max.retries", "retries"],
    },
    Group {
        roles: CLIENTS,
        meaning: BYTE_ARRAYS,
        keys: &[
            "key.deserializer",
            "key.serializer",
            "key.serializer.class",
            "serializer.class",
            "value.deserializer",
            "value.serializer",
        ],
    },
    Group {
        roles: CONSUMER,
        meaning: Same {
            always: "an offset is committed only after the target has acknowledged what stands before it",
            agrees: &["false"],
        },
        keys: &["auto.commit.enable", "enable.auto.commit"],
    },
    Group {
        roles: CONSUMER,
        meaning: Same { always: "no topic is ever created on the source", agrees: &["false"] },
        keys: &["allow.auto.create.topics"],
    },
    Group {
        roles: CONSUMER,
        meaning: Same { always: "internal topics are never mirrored", agrees: &["true"] },
        keys: &["exclude.internal.topics"],
    },
    Group {
        roles: CONSUMER,
        // Every MirrorMaker file has it (its start-up warning asks for it), and nothing is lost without it.
        meaning: Same { always: "partitions are spread over the streams; no group is joined", agrees: &[] },
        keys: &["partition.assignment.strategy"],
    },
    Group {
        roles: PRODUCER,
        meaning: Same { always: "writes are pipelined and each one is awaited", agrees: &[] },
        keys: &["producer.type"],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored(NO_GROUP),
        keys: &[
            "consumer.id",
            "group.instance.id",
            "group.protocol",
            "group.remote.assignor",
            "heartbeat.frequency",
            "heartbeat.interval.ms",
            "internal.leave.group.on.close",
            "max.poll.interval.ms",
            "rebalance.backoff.ms",
            "rebalance.max.retries",
            "rebalance.timeout.ms",
            "session.timeout.ms",
            "share.acknowledgement.mode",
            "share.acquire.mode",
        ],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("--offset.commit.interval.ms says how often the group is told"),
        keys: &["auto.commit.interval.ms", "autocommit.interval.ms"],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("offsets are kept in the ledger on the target; the source's group is told as a courtesy"),
        keys: &[
            "dual.commit.enabled",
            "internal.throw.on.fetch.stable.offset.unsupported",
            "offsets.channel.backoff.ms",
            "offsets.channel.socket.timeout.ms",
            "offsets.commit.max.retries",
            "offsets.storage",
        ],
    },
    Group {
        roles: ALL,
        meaning: Ignored(NO_ZOOKEEPER),
        keys: &[
            "zk.connect",
            "zookeeper.connect",
            "zookeeper.connection.timeout.ms",
            "zookeeper.session.timeout.ms",
            "zookeeper.sync.time.ms",
        ],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("batches are taken whole, however many records they hold"),
        keys: &["max.poll.records"],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("each stream reads from all its brokers at once; --num.streams says how many streams"),
        keys: &["mirror.consumer.numthreads", "num.consumer.fetchers"],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("--whitelist says which topics"),
        keys: &["mirror.topics.blacklist", "mirror.topics.whitelist"],
    },
    Group {
        roles: CONSUMER,
        meaning: Ignored("a mirror waits for records as long as it runs"),
        keys: &["consumer.timeout.ms"],
    },
    Group { roles: CONSUMER, meaning: Ignored("partitions are read from their leaders"), keys: &["client.rack"] },
    Group {
        roles: CONSUMER,
        meaning: Ignored(ONE_BUDGET),
        keys: &["fetch.buffer.bytes", "queued.max.message.chunks", "total.memory.bytes"],
    },
    Group { roles: CONSUMER, meaning: Ignored("request.timeout.ms is used"), keys: &["socket.timeout.ms"] },
    Group { roles: CONSUMER, meaning: Ignored("retry.backoff.ms is used"), keys: &["refresh.leader.backoff.ms"] },
    Group { roles: PRODUCER, meaning: Ignored(WHOLE_BATCHES), keys: &["linger.ms", "queue.buffering.max.ms"] },
    Group {
        roles: PRODUCER,
        meaning: Ignored(ONE_BUDGET),
        keys: &["buffer.memory", "queue.buffering.max.messages", "queue.enqueue.timeout.ms"],
    },
    Group { roles: PRODUCER, meaning: Ignored("batch.size is used"), keys: &["batch.num.messages"] },
    Group {
        roles: PRODUCER,
        meaning: Ignored("request.timeout.ms is used"),
        keys: &["metadata.fetch.timeout.ms", "timeout.ms"],
    },
    Group {
        roles: PRODUCER,
        meaning: Ignored("metadata.max.age.ms is used"),
        keys: &["topic.metadata.refresh.interval.ms"],
    },
    Group {
        roles: PRODUCER,
        meaning: Ignored("a topic is followed for as long as it is mirrored"),
        keys: &["metadata.max.idle.ms"],
    },
    Group {
        roles: PRODUCER,
        meaning: Ignored(FIXED_PARTITIONS),
        keys: &[
            "partitioner.adaptive.partitioning.enable",
            "partitioner.availability.timeout.ms",
            "partitioner.class",
            "partitioner.ignore.keys",
        ],
    },
    Group {
        roles: PRODUCER,
        meaning: Ignored(NO_TRANSACTIONS),
        keys: &[
            "internal.auto.downgrade.txn.commit",
            "transaction.timeout.ms",
            "transaction.two.phase.commit.enable",
            "transactional.id",
        ],
    },
    Group { roles: PRODUCER, meaning: Ignored("compression.type holds for every topic"), keys: &["compressed.topics"] },
    Group {
        roles: PRODUCER,
        meaning: Ignored("what has to be re-encoded gets its codec's default level"),
        keys: &["compression.gzip.level", "compression.lz4.level", "compression.zstd.level"],
    },
    Group {
        roles: ALL,
        meaning: Ignored(NO_JMX),
        keys: &[
            "auto.include.jmx.reporter",
            "enable.metrics.push",
            "metric.reporters",
            "metrics.context.",
            "metrics.num.samples",
            "metrics.recording.level",
            "metrics.sample.window.ms",
        ],
    },
    Group { roles: CLIENTS, meaning: Ignored(NO_CLASSES), keys: &["interceptor.classes"] },
    Group {
        roles: ALL,
        meaning: Ignored("the connection is plaintext, as security.protocol says or leaves out"),
        keys: &["security.providers", "ssl."],
    },
    Group {
        roles: ALL,
        meaning: Ignored("the system sizes the buffers of its sockets"),
        keys: &["receive.buffer.bytes", "send.buffer.bytes", "socket.receive.buffer.bytes", "socket.send.buffer.bytes"],
    },
    Group {
        roles: ALL,
        meaning: Ignored("every address that a host name has is tried"),
        keys: &["bootstrap.resolve.timeout.ms", "client.dns.lookup"],
    },
    Group {
        roles: ALL,
        meaning: Ignored("the bootstrap addresses are asked again whenever no other broker answers"),
        keys: &["metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy"],
    },
    Group {
        roles: ALL,
        meaning: Ignored("a connection is kept as long as it is needed"),
        keys: &["connections.max.idle.ms"],
    },
    Group {
        roles: ALL,
        meaning: Ignored("waits grow from retry.backoff.ms to a bound of their own"),
        keys: &["retry.backoff.max.ms"],
    },
    Group {
        roles: ALL,
        meaning: Ignored("each attempt has socket.connection.setup.timeout.ms"),
        keys: &["socket.connection.setup.timeout.max.ms"],
    },
    Group {
        roles: CLIENTS,
        meaning: Ignored("each request has request.timeout.ms, and is asked again for as long as the mirror runs"),
        keys: &["default.api.timeout.ms"],
    },
    Group { roles: ADMIN, meaning: Ignored("default.api.timeout.ms bounds the whole command"), keys: &["retries"] },
    Group { roles: ADMIN, meaning: Ignored("offsets are asked of brokers"), keys: &["bootstrap.controllers"] },
];
